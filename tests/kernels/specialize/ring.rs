//! A ring of shared buffers between partitions: one fills, one adds, the default one writes out. Barriers are handles like any
//! other, and count partitions, however many warps those have.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[9, 128] uniform(-1000, 1000)
//@ arg out: i32[9, 128] poison
//@ arg sums: i32[9] poison
//@ expect out: x(i, j) * 2
//@ expect sums: sum(k, 0, 128, x(i, k)) * 2
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = W, grid = 1, instances((W, A, B) = [(4, 1, 4), (1, 4, 2), (2, 8, 1), (8, 1, 1)]))]
pub fn ring<const W: i32, const A: i32, const B: i32>(
    x: Tensor<i32, 2>,
    out: TensorMut<i32, 2>,
    sums: TensorMut<i32, 1>,
) {
    let slots = shared::<i32>([2, 128]);
    let (full, empty) = (barriers(2, 1), barriers(2, 2));
    warp_specialize(
        || {
            for i in 0..x.dim(0) {
                full[i % 2].wait(i / 2 % 2);
                let row = slots[i % 2].load();
                empty[i % 2].arrive();
                out.tile([i, 0], [1, 128]).store(row.expand(0));
            }
        },
        [
            partition(A).registers(40).run(|| {
                for i in 0..x.dim(0) {
                    empty[i % 2].wait((i / 2 + 1) % 2);
                    let row = x.tile([i, 0], [1, 128]).load().reshape([128]);
                    slots[i % 2].store(row * 2);
                    full[i % 2].arrive();
                }
            }),
            partition(B).run(|| {
                for i in 0..x.dim(0) {
                    full[i % 2].wait(i / 2 % 2);
                    let row = slots[i % 2].load();
                    empty[i % 2].arrive();
                    sums.tile([i], [1]).store(row.sum(0).reshape([1]));
                }
            }),
        ],
    );
}
