//! The last block to come reads what all blocks wrote before they came: an atomic sum that is an acquire and a release orders the parts.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[9000] iota(-7, 1)
//@ arg parts: T[9, 256] fill(0)
//@ arg come: i32[1] fill(0)
//@ arg out: T[256] poison
//@ expect come: 9
//@ expect out: sum(n, 0, 9 * 4, if n * 256 + i < 9000 { x(n * 256 + i) } else { 0 })
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = parts.dim(0), instances(T = [i32, u64], W = [1, 4]))]
pub fn ordered_last_block<T: Number, const W: i32>(
    x: Tensor<T, 1>,
    parts: TensorMut<T, 2>,
    come: TensorMut<i32, 1>,
    out: TensorMut<T, 1>,
) {
    let mine = x.tile([block_id(0) * 1024], [1024]).load().reshape([4, 256]).sum(0);
    parts.tile([block_id(0), 0], [1, 256]).store(mine.expand(0));
    let before = come.tile([0], [1]).acq_rel().atomic_add(full([1], 1)).item();
    if before == num_blocks(0) - 1 {
        let mut total = zeros::<T>([256]);
        for i in range(0, num_blocks(0), 1) {
            total += parts.tile([i, 0], [1, 256]).load().reshape([256]);
        }
        out.tile([0], [256]).store(total);
    }
}
