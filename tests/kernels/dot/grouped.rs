//! A grouped product: the rows of expert e are `offsets[e]..offsets[e + 1]` of one matrix, and meet its weights. How many rows there are is
//! known on the device alone. An expert's last block of rows ends with its rows, and leaves the rows of the next expert alone.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f16[100, 64] list(1, -2, 0, 0.5, 3, -1, 2)
//@ arg w: f16[4, 64, 32] list(1, 0, -1, 2, 0.5)
//@ arg offsets: i32[5] list(0, 5, 5, 71, 90)
//@ arg out: f32[100, 32] fill(7)
//@ arg copied: f32[100, 32] fill(7)
//@ expect out: if i < offsets(4) { sum(n, 0, 64, x(i, n) * if i < 5 { w(0, n, j) } else { if i < 71 { w(2, n, j) } else { w(3, n, j) } }) } else { 7 }
//@ expect copied: if i < offsets(4) { sum(n, 0, 64, x(i, n) * if i < 5 { w(0, n, j) } else { if i < 71 { w(2, n, j) } else { w(3, n, j) } }) } else { 7 }
//@ case: rows
use kiln::prelude::*;

/// `ceil(rows / BM)` blocks of rows, one after the other: each block of the grid takes the rows of one expert.
#[kernel(target = sm_80, warps = 4, grid = 4, instances(BM = [16, 64]))]
pub fn grouped<const BM: i32>(
    x: Tensor<f16, 2>,
    w: Tensor<f16, 3>,
    offsets: Tensor<i32, 1>,
    out: TensorMut<f32, 2>,
    copied: TensorMut<f32, 2>,
) {
    let e = block_id(0);
    let (first, end) = (load(offsets.ptr() + e), load(offsets.ptr() + e + 1));
    let (x, out, copied) = (x.slice((first..end, ..)), out.slice((first..end, ..)), copied.slice((first..end, ..)));
    let staged = shared::<f16>([BM, 32]);
    for i in range(0, x.dim(0), BM) {
        let (mut sums, mut sums_of_copies) = (zeros([BM, 32]), zeros([BM, 32]));
        for k in range(0, x.dim(1), 32) {
            copy_async(x.tile([i, k], [BM, 32]), staged);
            let b = w.tile([e, k, 0], [1, 32, 32]).load().reshape([32, 32]);
            sums = dot(x.tile([i, k], [BM, 32]).load(), b, sums);
            copy_async_wait_all();
            sync();
            sums_of_copies = dot(staged.load(), b, sums_of_copies);
            sync();
        }
        out.tile([i, 0], [BM, 32]).store(sums);
        copied.tile([i, 0], [BM, 32]).store(sums_of_copies);
    }
}
