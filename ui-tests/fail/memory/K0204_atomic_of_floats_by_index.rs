use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn flipped(x: Tensor<f32, 1>, at: Tensor<i32, 1>, y: TensorMut<f32, 1>) {
    let bins = shared::<f32>([64]);
    bins.store(zeros([64]));
    sync();
    bins.atomic_xor(at.tile([0], [128]).load(), x.tile([0], [128]).load());
    sync();
    y.tile([0], [64]).store(bins.load());
}

fn main() {}
