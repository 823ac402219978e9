use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn both_clear(y: TensorMut<f32, 1>) {
    let sums = shared::<f32>([128]);
    warp_specialize(|| sums.store(zeros([128])), [partition(4).run(|| sums.store(zeros([128])))]);
    sync();
    y.tile([0], [128]).store(sums.load());
}

fn main() {}
