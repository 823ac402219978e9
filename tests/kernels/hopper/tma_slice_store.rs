//! TMA stores and reductions of slices drop the rows after the end of their group, where the next group's are; a tile that is wider than
//! the swizzle takes one box if the tensor's extent allows it.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg offsets: i32[6] list(0, 5, 5, 24, 40, 70)
//@ arg out: f16[50, 128] list(90, 91, 92)
//@ arg sums: i32[50, 64] list(10, 20, 30, 7)
//@ expect out: if i < 5 { 1 } else { if i < 21 { 3 } else { if i < 24 { out(i, j) } else { if i < 40 { 4 } else { 5 } } } }
//@ expect sums: if i < 5 { sums(i, j) + 1 } else { if i < 21 { sums(i, j) + 3 } else { if i < 24 { sums(i, j) } else { if i < 40 { sums(i, j) + 4 } else { sums(i, j) + 5 } } } }
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 2, grid = offsets.dim(0) - 1)]
pub fn tma_slice_store(
    offsets: Tensor<i32, 1>,
    #[block(16, 128)] out: TensorMapMut<f16, 2>,
    #[block(16, 64)] sums: TensorMapMut<i32, 2>,
) {
    let g = block_id(0);
    let (first, end) = (load(offsets.ptr() + g), load(offsets.ptr() + g + 1));
    let (halves, numbers) = (shared::<f16>([16, 128]), shared::<i32>([16, 64]));
    halves.store(full([16, 128], (g + 1) as f16));
    numbers.store(full([16, 64], g + 1));
    tma::store(out.slice((first..end, ..)), [0, 0], halves);
    let mine = sums.slice((first..end, ..));
    tma::reduce_add(mine, [0, 0], numbers);
    tma::store_wait_written(0);
    // Past the end.
    tma::reduce_add(mine, [mine.dim(0), 0], numbers);
    copy_async(halves, out.slice((first..end, ..)).tile([30, 0], [16, 128]));
    tma::store_wait_written(0);
}
