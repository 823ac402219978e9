//! Nested loops that carry a tile through both, with a branch inside.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[8, 32] uniform(-10, 10)
//@ arg m: i32 scalar 3
//@ arg out: i32[32] poison
//@ expect out: sum(a, 0, m, sum(b, 0, 8, if (a + b) % 2 == 0 { x(b, i) * (a + 1) } else { -x(b, i) }))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn nested_tiles(x: Tensor<i32, 2>, m: i32, out: TensorMut<i32, 1>) {
    let mut acc = zeros::<i32>([32]);
    for a in 0..m {
        for b in 0..x.dim(0) {
            let row = x.tile([b, 0], [1, 32]).load().reshape([32]);
            acc = if (a + b) % 2 == 0 { acc + row * (a + 1) } else { acc - row };
        }
    }
    out.tile([0], [32]).store(acc);
}
