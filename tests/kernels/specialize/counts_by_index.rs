//! Two partitions of different widths count in one histogram, with old values that their threads share, and read a table of the other one by index.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[512] uniform(0, 15)
//@ arg counts: i32[16] poison
//@ arg looked: i32[2, 16] poison
//@ expect counts: sum(n, 0, 512, if x(n) == i { 1 } else { 0 })
//@ expect looked: if i == 0 { 100 + 15 - j } else { 200 + (j ^ 5) }
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn counts_by_index(x: Tensor<i32, 1>, counts: TensorMut<i32, 1>, looked: TensorMut<i32, 2>) {
    let (bins, left, right) = (shared::<i32>([16]), shared::<i32>([16]), shared::<i32>([16]));
    let (there, back) = (barrier(1), barrier(1));
    bins.store(zeros([16]));
    sync();
    warp_specialize(
        || {
            bins.atomic_add(x.tile([0], [256]).load(), full([256], 1));
            left.scatter(arange(0, 16) ^ 5, 200 + arange(0, 16));
            there.arrive();
            back.wait(0);
            looked.tile([0, 0], [1, 16]).store(right.gather(arange(0, 16)).expand(0));
        },
        [partition(2).run(|| {
            bins.atomic_add(x.tile([256], [256]).load(), full([256], 1));
            right.scatter(15 - arange(0, 16), 100 + arange(0, 16));
            back.arrive();
            there.wait(0);
            looked.tile([1, 0], [1, 16]).store(left.gather(arange(0, 16)).expand(0));
        })],
    );
    sync();
    counts.tile([0], [16]).store(bins.load());
}
