//! What a closure does besides arithmetic is underlined, and not the closure.

use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn k(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let tile = x.tile([0], [128]).load();
    let sums = tile.scan(0, |a, b| {
        let larger = a.max(b);
        out.tile([0], [128]).store(tile);
        larger
    });
    let squares = sums.map(|v| {
        let mut square = v;
        for _ in 0..3 {
            square = square * v;
        }
        square * x.tile([0], [1]).load().item()
    });
    out.tile([0], [128]).store(squares);
}

fn main() {}
