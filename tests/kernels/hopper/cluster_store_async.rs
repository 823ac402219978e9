//! Stores to another block that its barrier counts: a ring of blocks, in which each gives its neighbour what it got, plus its own.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[4, 8, 64] list(1, 2, 3, 0, 2, 1, 4, 3, 1, 0, 4, 5, 6)
//@ arg out: T[4, 8, 64] poison
//@ expect out: x((i + 3) % 4, j, k) + x((i + 2) % 4, j, k) + x((i + 1) % 4, j, k)
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 4, grid = 4, instances(T = [i32, u32, f32, i64, f64]))]
pub fn cluster_store_async<T: Number>(x: Tensor<T, 3>, out: TensorMut<T, 3>) {
    let rank = cluster::rank();
    let slots = shared::<T>([3, 8, 64]);
    let full = barriers(3, 1);
    let mut passed = x.tile([rank, 0, 0], [1, 8, 64]).load().reshape([8, 64]);
    let mut sum = zeros::<T>([8, 64]);
    for turn in 0..3 {
        full[turn].expect(slots[0].bytes());
        slots[turn].of_block((rank + 1) % 4).store_async(passed, full[turn]);
        full[turn].wait(0);
        passed = slots[turn].load();
        sum += passed;
    }
    out.tile([rank, 0, 0], [1, 8, 64]).store(sum.expand(0));
}
