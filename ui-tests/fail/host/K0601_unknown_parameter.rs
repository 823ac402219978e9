use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, instances(SIZES = [64, 128]))]
pub fn clear<const SIZE: i32>(x: TensorMut<f32, 1>) {
    x.tile([0], [SIZE]).store(zeros([SIZE]));
}

fn main() {}
