// Rust: Causal mask of attention scores. `&&` takes bool; masks are joined by `&`.
// RIGHT: let seen = cols.le(rows) & cols.lt(scores.dim(1));
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(scores.dim(0), 64), cdiv(scores.dim(1), 64)])]
pub fn causal_mask(scores: TensorMut<f32, 2>) {
    let (row, column) = (block_id(0) * 64, block_id(1) * 64);
    let rows = (row + arange(0, 64)).expand(1);
    let cols = (column + arange(0, 64)).expand(0);
    let window = scores.tile([row, column], [64, 64]);
    let seen = cols.le(rows) && cols.lt(scores.dim(1));
    window.store(select(seen, window.load(), f32::NEG_INFINITY));
}

fn main() {}
