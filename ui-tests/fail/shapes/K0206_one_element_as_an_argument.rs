use kiln::prelude::*;

#[device]
fn twice(n: i32) -> i32 {
    n * 2
}

/// A scalar argument.
#[kernel(target = sm_80, warps = 4, grid = lengths.dim(0))]
pub fn passed(lengths: Tensor<i32, 1>, out: TensorMut<f32, 1>) {
    let length = lengths.tile([block_id(0)], [1]).load();
    out.tile([twice(length)], [128]).store(zeros([128]));
}

fn main() {}
