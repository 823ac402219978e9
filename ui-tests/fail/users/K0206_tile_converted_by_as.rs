// Rust: Dequantises int8 weights with a scale for each row. `as` converts Rust's own scalars, not a tile.
// RIGHT: let w = q.tile(at, [32, 128]).load().cast::<f32>();
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(q.dim(0), 32), cdiv(q.dim(1), 128)])]
pub fn dequantise(q: Tensor<i8, 2>, scales: Tensor<f32, 1>, out: TensorMut<f32, 2>) {
    let row = block_id(0) * 32;
    let at = [row, block_id(1) * 128];
    let w = q.tile(at, [32, 128]).load() as f32;
    let s = scales.tile([row], [32]).load().expand(1);
    out.tile(at, [32, 128]).store(w * s);
}

fn main() {}
