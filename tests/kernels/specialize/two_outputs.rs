//! Partitions that each compute another output: loads, reductions, conversions through shared memory, loops and barriers of
//! their own, with scalars and handles from outside.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[32, 32] uniform(-1000, 1000)
//@ arg n: i32 scalar 3
//@ arg sums: i32[32] poison
//@ arg turned: i32[32, 32] poison
//@ arg weighted: i32[32] poison
//@ expect sums: sum(c, 0, 32, x(i, c)) * 4
//@ expect turned: x(j, i) + 5 * n
//@ expect weighted: sum(r, 0, 32, x(r, i) * (r + 1))
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = W, grid = 1, instances((W, A, B) = [(4, 1, 4), (1, 2, 1), (2, 8, 2), (8, 4, 1), (1, 1, 1), (4, 8, 8)]))]
pub fn two_outputs<const W: i32, const A: i32, const B: i32>(
    x: Tensor<i32, 2>,
    n: i32,
    sums: TensorMut<i32, 1>,
    turned: TensorMut<i32, 2>,
    weighted: TensorMut<i32, 1>,
) {
    let staged = shared::<i32>([32, 32]);
    let more = n * 5;
    let window = x.tile([0, 0], [32, 32]);
    warp_specialize(
        || {
            let mut total = zeros::<i32>([32]);
            for turn in 0..n + 1 {
                total += window.load().sum(1);
            }
            sums.tile([0], [32]).store(total);
        },
        [
            partition(A).run(|| {
                staged.store(window.load() + more);
                sync();
                turned.tile([0, 0], [32, 32]).store(staged.t().load());
            }),
            partition(B).run(|| {
                let weights = arange(1, 33).expand(1);
                weighted.tile([0], [32]).store((window.load() * weights).sum(0));
            }),
        ],
    );
}
