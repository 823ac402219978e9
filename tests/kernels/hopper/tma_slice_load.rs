//! TMA loads of the rows of groups, in pieces: they give zeros where the group ends, though the tensor goes on. Groups that are ragged, of one
//! row, empty, turned round, past the end of the tensor and before it.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[50, 80] list(1, 2, 3, 4, 5, 6, 7)
//@ arg first: i32[8] list(0, 5, 9, 24, 40, 30, -7, 49)
//@ arg end: i32[8] list(5, 24, 9, 25, 70, 20, 3, 50)
//@ arg y: T[8, 32, 80] poison
//@ expect y: if i < 32 && max(first(i), 0) + j < min(end(i), 50) { x(max(first(i), 0) + j, k) } else { 0 }
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 2, grid = 1, instances(T = [u8, i16, f16, bf16, f32, u64]))]
pub fn tma_slice_load<T: Number>(
    #[block(16, 16)] x: TensorMap<T, 2>,
    first: Tensor<i32, 1>,
    end: Tensor<i32, 1>,
    y: TensorMut<T, 3>,
) {
    let (held, full) = (shared::<T>([16, 16]), barrier(1));
    let mut phase = 0;
    for g in range(0, 8, 1) {
        let mine = x.slice((load(first.ptr() + g)..load(end.ptr() + g), ..));
        for i in range(0, 32, 16) {
            for j in range(0, 80, 16) {
                full.expect(mine.block_bytes());
                tma::load(mine, [i, j], full, held);
                full.wait(phase);
                phase = 1 - phase;
                y.tile([g, i, j], [1, 16, 16]).store(held.load().expand(0));
                sync();
            }
        }
    }
}
