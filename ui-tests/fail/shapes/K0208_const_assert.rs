use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, instances(STAGES = [1, 2]))]
pub fn pipeline<const STAGES: i32>(x: TensorMut<f32, 1>) {
    const { assert!(STAGES >= 2, "a load must overlap a product") }
    x.tile([0], [128]).store(full([128], STAGES as f32));
}

fn main() {}
