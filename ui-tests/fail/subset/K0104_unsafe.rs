use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub unsafe fn fill(p: Ptr<f32>) {
    store(p + arange(0, 128), full([128], 1.0));
}

#[kernel(target = sm_80, warps = 4)]
pub const fn clear(y: TensorMut<f32, 1>) {
    y.tile([0], [128]).store(zeros([128]));
}

fn main() {}
