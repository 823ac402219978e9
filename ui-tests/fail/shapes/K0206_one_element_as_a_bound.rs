use kiln::prelude::*;

/// As many steps as a sequence is long.
#[kernel(target = sm_80, warps = 4, grid = lengths.dim(0))]
pub fn steps(lengths: Tensor<i32, 1>, keys: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let length = lengths.tile([block_id(0)], [1]).load();
    let mut sum = zeros::<f32>([16, 128]);
    for at in range(0, cdiv(length, 16), 1) {
        sum += keys.tile([at * 16, 0], [16, 128]).load();
    }
    out.tile([block_id(0) * 16, 0], [16, 128]).store(sum);
}

/// The same without a quotient.
#[kernel(target = sm_80, warps = 4, grid = lengths.dim(0))]
pub fn each(lengths: Tensor<i32, 1>, keys: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let length = lengths.tile([block_id(0)], [1]).load();
    let mut sum = zeros::<f32>([16, 128]);
    for at in 0..length {
        sum += keys.tile([at * 16, 0], [16, 128]).load();
    }
    out.tile([block_id(0) * 16, 0], [16, 128]).store(sum);
}

/// In steps.
#[kernel(target = sm_80, warps = 4, grid = lengths.dim(0))]
pub fn stepped(lengths: Tensor<i32, 1>, keys: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let length = lengths.tile([block_id(0)], [1]).load();
    let mut sum = zeros::<f32>([16, 128]);
    for at in range(0, length, 16) {
        sum += keys.tile([at, 0], [16, 128]).load();
    }
    out.tile([block_id(0) * 16, 0], [16, 128]).store(sum);
}

fn main() {}
