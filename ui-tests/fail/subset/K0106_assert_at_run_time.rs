use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn clear(n: i32, x: TensorMut<f32, 1>) {
    assert!(n > 0, "nothing to clear");
    x.tile([0], [128]).store(zeros([128]));
}

fn main() {}
