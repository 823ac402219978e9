//! What an iteration computes before it returns is lost, with the kernel; where there is no iteration, the loop leaves its variables alone.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg n: i32 scalar 0
//@ arg x: i32[64] iota(0, 1)
//@ arg y: i32[64] fill(-1)
//@ expect y: i
//@ case: returns
//@ arg n: i32 scalar 3
//@ expect y: -1
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn returned_turn(n: i32, x: Tensor<i32, 1>, y: TensorMut<i32, 1>) {
    let mut tile = x.tile([0], [64]).load();
    let mut at = 0;
    for _ in 0..n {
        tile = tile + 1;
        at += 7;
        return;
    }
    y.tile([at], [64]).store(tile);
}
