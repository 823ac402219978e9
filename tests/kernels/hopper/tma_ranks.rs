//! TMA copies between shapes of other ranks: a head of a batch is a matrix in shared memory, and heads are stacked.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[3, 60, 64] list(1, 2, 3, 4, 5, 6, 7)
//@ arg heads: T[2, 4, 15, 64] list(3, 1, 4, 1, 5, 9, 2, 6)
//@ arg one: T[64, 64] poison
//@ arg merged: T[64, 64] poison
//@ arg sums: T[64, 64] poison
//@ arg stored: T[3, 60, 64] fill(9)
//@ arg stacked: T[2, 4, 15, 64] fill(9)
//@ expect one: if i < 60 { x(1, i, j) } else { 0 }
//@ expect merged: if i - i / 16 * 16 < 15 { heads(1, i / 16, i - i / 16 * 16, j) } else { 0 }
//@ expect sums: if i < 60 { x(0, i, j) + x(1, i, j) + x(2, i, j) } else { 0 }
//@ expect stored: if i == 2 { x(1, j, k) } else { 9 }
//@ expect stacked: if i == 0 { heads(1, j, k, l) } else { 9 }
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 4, grid = 1, instances(T = [f16, f32]))]
pub fn tma_ranks<T: Number>(
    x: Tensor<T, 3>,
    #[block(1, 4, 16, 64)] heads: TensorMap<T, 4>,
    one: TensorMut<T, 2>,
    merged: TensorMut<T, 2>,
    sums: TensorMut<T, 2>,
    stored: TensorMut<T, 3>,
    #[block(1, 4, 16, 64)] stacked: TensorMapMut<T, 4>,
) {
    let (matrix, stack) = (shared::<T>([64, 64]), shared::<T>([64, 64]));
    let (ring, full) = (shared::<T>([64, 64]), barrier(1));
    full.expect(matrix.bytes() + heads.block_bytes());
    copy_async(x.tile([1, 0, 0], [1, 64, 64]), matrix).on(full);
    tma::load(heads, [1, 0, 0, 0], full, stack);
    full.wait(0);
    one.tile([0, 0], [64, 64]).store(matrix.load());
    merged.tile([0, 0], [64, 64]).store(stack.load());
    copy_async(matrix, stored.tile([2, 0, 0], [1, 64, 64]));
    tma::store(stacked, [0, 0, 0, 0], stack);
    tma::store_wait(0);
    let mut sum = zeros([64, 64]);
    for b in pipeline(range(0, 3, 1), 2) {
        copy_async(x.tile([b, 0, 0], [1, 64, 64]), ring);
        sum = sum + ring.load();
    }
    sums.tile([0, 0], [64, 64]).store(sum);
}
