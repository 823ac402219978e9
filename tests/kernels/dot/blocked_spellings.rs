//! A product by fused multiply-add leaves its result in a blocked layout, whatever the name by which that is pinned; before the
//! product, and behind it in a loop.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f32[32, 32] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f32[32, 64] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f32[32, 64] list(2, 0, -3, 1, 5)
//@ arg out: f32[4, 32, 64] poison
//@ arg twice: f32[2, 32, 64] poison
//@ expect out: c(j, k) + sum(n, 0, 32, a(j, n) * b(n, k))
//@ expect twice: c(j, k) + 2 * sum(n, 0, 32, a(j, n) * b(n, k))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn blocked_spellings(
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    c: Tensor<f32, 2>,
    out: TensorMut<f32, 3>,
    twice: TensorMut<f32, 3>,
) {
    const ROWS: Layout = blocked([1, 4], [2, 16], [4, 1], [1, 0]);
    const BASES: Layout = linear(
        [[0, 1], [0, 2], [8, 0], [16, 0]],
        [[0, 4], [0, 8], [0, 16], [0, 32], [1, 0]],
        [[2, 0], [4, 0]],
        [32, 64],
    );
    const CUBE: Layout = slice(2, blocked([1, 4, 1], [2, 16, 1], [4, 1, 1], [1, 0, 2]));
    const TILE: Layout = layout!(S[(4, 4, 2, 16, 4) : (4, 1 @ warpid, 16 @ laneid, 1 @ laneid, 1)]);
    let a = a.tile([0, 0], [32, 32]).load();
    let b = b.tile([0, 0], [32, 64]).load();
    let c = c.tile([0, 0], [32, 64]).load();
    out.tile([0, 0, 0], [1, 32, 64]).store(dot(a, b, c.to_layout(ROWS)).expand(0));
    out.tile([1, 0, 0], [1, 32, 64]).store(dot(a, b, c.to_layout(BASES)).expand(0));
    out.tile([2, 0, 0], [1, 32, 64]).store(dot(a, b, c.to_layout(CUBE)).expand(0));
    out.tile([3, 0, 0], [1, 32, 64]).store(dot(a, b, c.to_layout(TILE)).expand(0));
    let (mut before, mut behind) = (c.to_layout(ROWS), c);
    for _ in 0..2 {
        before = dot(a, b, before);
        behind = dot(a, b, behind).to_layout(BASES);
    }
    twice.tile([0, 0, 0], [1, 32, 64]).store(before.expand(0));
    twice.tile([1, 0, 0], [1, 32, 64]).store(behind.expand(0));
}
