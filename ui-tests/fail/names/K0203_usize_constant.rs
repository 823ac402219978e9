use kiln::prelude::*;

const N: usize = 128;

#[kernel(target = sm_80, warps = 4)]
pub fn clear(x: TensorMut<f32, 1>) {
    x.tile([0], [N]).store(zeros([N]));
}

fn main() {}
