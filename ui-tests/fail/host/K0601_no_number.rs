use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, instances(T = [f32, &'static f32, (f32, i32), Tile<f32>]))]
pub fn clear<T: Scalar>(x: TensorMut<f32, 1>) {
    x.tile([0], [128]).store(zeros([128]));
}

fn main() {}
