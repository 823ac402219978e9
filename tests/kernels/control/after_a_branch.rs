//! What one side of a branch computed first is computed by the other side, and by what follows.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg n: i32 scalar 0
//@ arg x: i32[64] bits
//@ arg out: i32[64] poison
//@ expect out: if n > 0 { x(i) + x(i) } else { x(i) - 3 }
//@ case: else
//@ case: then
//@ arg n: i32 scalar 6
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
pub fn after_a_branch(n: i32, x: Tensor<i32, 1>, out: TensorMut<i32, 1>) {
    let y = if n > 0 {
        let v = x.tile([0], [64]).load();
        v + v
    } else {
        x.tile([0], [64]).load() - 3
    };
    if n > 3 {
        out.tile([block_id(0)], [64]).store(zeros::<i32>([64]));
    }
    out.tile([block_id(0)], [64]).store(y);
}
