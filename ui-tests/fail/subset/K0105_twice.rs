use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, target = sm_90a)]
pub fn clear(x: TensorMut<f32, 1>) {
    x.tile([0], [128]).store(zeros([128]));
}

#[kernel(target = sm_80, warps = 4, crate = kiln, crate = ::kiln)]
pub fn fill(x: TensorMut<f32, 1>) {
    x.tile([0], [128]).store(full([128], 1.0));
}

#[kernel(target = sm_80, warps = 4, crate)]
pub fn count(x: TensorMut<i32, 1>) {
    x.tile([0], [128]).store(arange(0, 128));
}

fn main() {}
