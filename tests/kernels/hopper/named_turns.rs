//! Two partitions take turns at a sum in shared memory, whose result depends on whose turn is whose: named barriers let one go on and
//! hold the other.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[4, 128] uniform(-9, 9)
//@ arg out: i32[4, 128] poison
//@ expect out: if i == 0 { x(0, j) } else { if i == 1 { x(0, j) * 3 + x(1, j) } else { if i == 2 { (x(0, j) * 3 + x(1, j)) * 2 + x(2, j) } else { ((x(0, j) * 3 + x(1, j)) * 2 + x(2, j)) * 3 + x(3, j) } } }
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = 4, grid = 1, instances(W = [1, 4, 8]))]
pub fn named_turns<const W: i32>(x: Tensor<i32, 2>, out: TensorMut<i32, 2>) {
    let sum = shared::<i32>([128]);
    let (even, odd) = (named_barrier(4 + W), named_barrier(4 + W));
    sum.store(zeros([128]));
    warp_specialize(
        || {
            for row in range(0, x.dim(0), 2) {
                let next = sum.load() * 2 + x.tile([row, 0], [1, 128]).load().reshape([128]);
                sync();
                sum.store(next);
                odd.arrive();
                out.tile([row, 0], [1, 128]).store(next.expand(0));
                even.sync();
            }
        },
        [partition(W).run(|| {
            for row in range(1, x.dim(0), 2) {
                odd.sync();
                let next = sum.load() * 3 + x.tile([row, 0], [1, 128]).load().reshape([128]);
                sync();
                sum.store(next);
                even.arrive();
                out.tile([row, 0], [1, 128]).store(next.expand(0));
            }
        })],
    );
}
