use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn count(x: Tensor<i64, 1>, y: TensorMut<i32, 1>) {
    let bins = shared::<i32>([256]);
    bins.store(zeros([256]));
    sync();
    let at = x.tile([0], [128]).load();
    bins.atomic_add(at, full([128], 1));
    sync();
    y.tile([0], [256]).store(bins.load());
}

fn main() {}
