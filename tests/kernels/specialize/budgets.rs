//! Register budgets: small partitions share a warpgroup, larger ones begin at one; the kernel's own warps get what is left.
//! Early ends before the warps are specialised let nobody wait.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[64] uniform(-1000, 1000)
//@ arg n: i32 scalar 9
//@ arg out: i32[4, 64] fill(0)
//@ case: all
//@ expect out: if i == 0 { x(j) } else { if i == 1 { x(j) + 1 } else { if i == 2 { x(j) + 2 } else { x(j) + 3 } } }
//@ case: ended
//@ arg n: i32 scalar 3
//@ expect out: 0
//@ case: ended_in_a_loop
//@ arg n: i32 scalar 4
//@ expect out: if i == 3 { 9 } else { 0 }
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = W, grid = 2, instances((W, A, B, C) = [(4, 4, 1, 2), (8, 1, 2, 1), (1, 8, 1, 1), (2, 1, 1, 1)]))]
pub fn budgets<const W: i32, const A: i32, const B: i32, const C: i32>(
    x: Tensor<i32, 1>,
    n: i32,
    out: TensorMut<i32, 2>,
) {
    if n == 3 {
        return;
    }
    for turn in 0..n {
        if turn == n - 1 && n == 4 {
            out.tile([3, 0], [1, 64]).store(full([1, 64], 9));
            return;
        }
    }
    let v = x.tile([0], [64]).load();
    warp_specialize(
        || {
            if n == 8 {
                return;
            }
            out.tile([0, 0], [1, 64]).store(v.expand(0));
        },
        [
            partition(A).registers(24).run(|| {
                for turn in 0..n {
                    if turn == 5 {
                        return;
                    }
                    out.tile([1, 0], [1, 64]).store((x.tile([0], [64]).load() + 1).expand(0));
                }
                out.tile([1, 0], [1, 64]).store(full([1, 64], -1));
            }),
            partition(B).registers(40).run(|| {
                out.tile([2, 0], [1, 64]).store((x.tile([0], [64]).load() + 2).expand(0));
            }),
            partition(C).run(|| {
                out.tile([3, 0], [1, 64]).store((x.tile([0], [64]).load() + 3).expand(0));
            }),
        ],
    );
}
