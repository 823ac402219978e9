//! A histogram whose bins the blocks of a cluster share: each adds to the bins of the other, reads some of them by index, and writes others.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[2, 256] uniform(-2, 17)
//@ arg bins: i32[16] poison
//@ arg seen: i32[2, 32] poison
//@ expect bins: sum(n, 0, 2, sum(m, 0, 256, if x(n, m) == i { 1 } else { 0 }))
//@ expect seen: if j < 8 { 100 * (1 - i) + j } else if j < 24 { 7 } else { 0 }
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = W, grid = 2, cluster = 2, instances(W = [1, 4]))]
pub fn cluster_histogram<const W: i32>(
    x: Tensor<i32, 2>,
    bins: TensorMut<i32, 1>,
    seen: TensorMut<i32, 2>,
) {
    let (counts, marks) = (shared::<i32>([8]), shared::<i32>([2, 16]));
    let rank = cluster::rank();
    let j = arange(0, 16);
    counts.store(zeros([8]));
    marks.store(full([2, 16], -1));
    cluster::sync();
    let values = x.tile([rank, 0], [1, 256]).load().reshape([256]);
    for owner in unroll(0..2) {
        // The bins of the other block are outside of these.
        counts.of_block(owner).atomic_add(values - owner * 8, full([256], 1));
    }
    // What each block says of itself, it writes to the other one.
    marks.of_block(rank ^ 1).scatter([zeros([16]), j], select(j.lt(8), j + rank * 100, 7));
    cluster::sync();
    bins.tile([rank * 8], [8]).store(counts.load());
    let columns = arange(0, 32);
    let row = select(columns.lt(16), 0, 1);
    marks.scatter([full([16], 1), j], select(j.lt(8), 7, 0));
    cluster::sync();
    let from_other = marks.of_block(rank ^ 1).gather([row, columns & 15]);
    let own = marks.gather([row, columns & 15]);
    seen.tile([rank, 0], [1, 32]).store(select(row.eq(0), own, from_other).expand(0));
}
