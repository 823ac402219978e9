//! Inclusive and exclusive sums from either end, along each axis, over registers, lanes and warps; an exclusive scan begins with a
//! value that is known when the kernel runs.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[64, 32] uniform(-1000, 1000)
//@ arg from: i32 scalar 12345
//@ arg up: i32[64, 32] poison
//@ arg left: i32[64, 32] poison
//@ arg above: i32[64, 32] poison
//@ arg before: i32[64, 32] poison
//@ arg below: i32[64, 32] poison
//@ arg after: i32[64, 32] poison
//@ expect up: sum(n, i, 64, x(n, j))
//@ expect left: sum(n, j, 32, x(i, n))
//@ expect above: 12345 + sum(n, 0, i, x(n, j))
//@ expect before: 12345 + sum(n, 0, j, x(i, n))
//@ expect below: 12345 + sum(n, i + 1, 64, x(n, j))
//@ expect after: 12345 + sum(n, j + 1, 32, x(i, n))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4, 8]))]
#[expect(clippy::too_many_arguments, reason = "one output for each scan")]
pub fn ends<const W: i32>(
    x: Tensor<i32, 2>,
    from: i32,
    up: TensorMut<i32, 2>,
    left: TensorMut<i32, 2>,
    above: TensorMut<i32, 2>,
    before: TensorMut<i32, 2>,
    below: TensorMut<i32, 2>,
    after: TensorMut<i32, 2>,
) {
    let x = x.tile([0, 0], [64, 32]).load();
    up.tile([0, 0], [64, 32]).store(x.scan_reverse(0, |a, b| a + b));
    left.tile([0, 0], [64, 32]).store(x.scan_reverse(-1, |a, b| a + b));
    above.tile([0, 0], [64, 32]).store(x.scan_exclusive(0, from, |a, b| a + b));
    before.tile([0, 0], [64, 32]).store(x.scan_exclusive(1, from, |a, b| a + b));
    below.tile([0, 0], [64, 32]).store(x.scan_reverse_exclusive(-2, from, |a, b| a + b));
    after.tile([0, 0], [64, 32]).store(x.scan_reverse_exclusive(1, from, |a, b| a + b));
}
