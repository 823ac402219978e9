// CUDA: one extent is an instance, the other an argument of the launch.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), ROWS), instances(ROWS = [16, 32]))]
pub fn wrong<const ROWS: i32>(x: Tensor<f32, 2>, columns: i32, out: TensorMut<f32, 2>) {
    let at = [block_id(0) * ROWS, 0];
    out.tile(at, [ROWS, columns]).store(x.tile(at, [ROWS, columns]).load() * 2.0);
}

fn main() {}
