use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn counts(x: Tensor<f32, 1>, out: TensorMut<u32, 1>) {
    let x = x.tile([0], [128]).load();
    out.tile([0], [128]).store(x.count_ones() + x.mul_hi(x).cast::<u32>() + x.rotate_left(3).cast::<u32>());
}

fn main() {}
