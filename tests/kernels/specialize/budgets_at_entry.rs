//! The budgets of all warpgroups add up to what a block begins with, which with 12, 20 and 24 warps is less than the register file:
//! a warpgroup that waited for more would wait for ever.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[64] uniform(-1000, 1000)
//@ arg out: i32[3, 64] poison
//@ expect out: x(j) + i
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = W, grid = 2, instances((W, A, B, R, S) = [
    (2, 4, 2, 232, 40), (4, 4, 1, 240, 40), (8, 8, 1, 104, 24), (8, 8, 4, 24, 40), (16, 1, 8, 24, 136),
]))]
pub fn budgets_at_entry<const W: i32, const A: i32, const B: i32, const R: i32, const S: i32>(
    x: Tensor<i32, 1>,
    out: TensorMut<i32, 2>,
) {
    let write = |row: i32| {
        out.tile([row, 0], [1, 64]).store((x.tile([0], [64]).load() + row).expand(0));
    };
    warp_specialize(
        || write(0),
        [
            partition(A).registers(R).run(|| write(1)),
            partition(B).registers(S).run(|| write(2)),
        ],
    );
}
