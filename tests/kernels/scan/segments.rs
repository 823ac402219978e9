//! Sums that start again at flags, and the first element since; a line of every length, down to one element.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg flags: bool[N] list(0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0)
//@ arg x: i32[N] uniform(-100000, 100000)
//@ arg y: u16[N] bits
//@ arg sums: i32[N] poison
//@ arg last: u16[N] poison
//@ arg later: i32[N] poison
//@ expect sums: sum(n, most(m, 0, i + 1, if flags(m) { m } else { 0 }), i + 1, x(n))
//@ expect last: y(most(m, 0, i + 1, if flags(m) { m } else { 0 }))
//@ expect later: sum(n, i, least(m, i, N, if flags(m) { m + 1 } else { N }), x(n))
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(N = [1, 2, 32, 256, 2048], W = [1, 4]))]
pub fn segments<const N: i32, const W: i32>(
    flags: Tensor<bool, 1>,
    x: Tensor<i32, 1>,
    y: Tensor<u16, 1>,
    sums: TensorMut<i32, 1>,
    last: TensorMut<u16, 1>,
    later: TensorMut<i32, 1>,
) {
    let flags = flags.tile([0], [N]).load();
    let x = x.tile([0], [N]).load();
    let y = y.tile([0], [N]).load();
    let (_, (total, first)) = (flags, (x, y)).scan(0, |(p, (a, c)), (q, (b, d))| {
        let (sum, kept) = if q { (b, d) } else { (a + b, c) };
        (p | q, (sum, kept))
    });
    sums.tile([0], [N]).store(total);
    last.tile([0], [N]).store(first);
    // From the end, a segment ends at its flag.
    let (_, total) = (flags, x).scan_reverse(0, |(p, a), (q, b)| (p | q, if q { b } else { a + b }));
    later.tile([0], [N]).store(total);
}
