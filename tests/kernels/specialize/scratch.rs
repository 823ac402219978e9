//! Partitions that reduce and convert at the same time: each exchanges through shared memory of its own.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[12, 512] uniform(-1000, 1000)
//@ arg sums: i32[3, 12] poison
//@ expect sums: sum(k, 0, 512, x(j, k)) + i
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances((W, A, B) = [(4, 4, 2), (2, 8, 4), (8, 2, 1)]))]
pub fn scratch<const W: i32, const A: i32, const B: i32>(x: Tensor<i32, 2>, sums: TensorMut<i32, 2>) {
    let reduce = |row: i32| {
        for i in 0..x.dim(0) {
            let sum = x.tile([i, 0], [1, 512]).load().reshape([512]).sum(0);
            sums.tile([row, i], [1, 1]).store((sum + row).reshape([1, 1]));
        }
    };
    warp_specialize(
        || reduce(0),
        [partition(A).run(|| reduce(1)), partition(B).run(|| reduce(2))],
    );
}
