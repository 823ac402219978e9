//! Windows of listed rows: loads, copies into shared memory, stores, in a slice, along a pipelined loop and on three axes. Rows and columns
//! outside of the tensor read as zero, and writes are dropped.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[20, 40] list(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
//@ arg y: T[20, 3, 8] list(1, 2, 3, 4, 5, 6, 7)
//@ arg rows: i32[16] list(3, 19, -1, 0, 20, 7, 2147483647, -2147483648, 4, 5, 6, 8, 9, 10, 11, 12)
//@ arg whence: i32[20] list(3, -1, -1, 0, 8, 9, 10, 5, 11, 12, 13, 14, 15, -1, -1, -1, -1, -1, -1, 1)
//@ arg from: i32 scalar 4
//@ arg to: i32 scalar 12
//@ arg out: T[16, 64] poison
//@ arg copied: T[16, 32] poison
//@ arg sliced: T[16, 32] poison
//@ arg summed: T[16, 16] poison
//@ arg pages: T[16, 2, 8] poison
//@ arg back: T[20, 40] fill(9)
//@ expect out: if (rows(i) >= -1) && (rows(i) < 19) && (j >= 3) && (j < 43) { x(rows(i) + 1, j - 3) } else { 0 }
//@ expect copied: if (rows(i) >= 0) && (rows(i) < 20) && (j < 24) { x(rows(i), j + 16) } else { 0 }
//@ expect sliced: if (rows(i) >= 0) && (rows(i) < max(min(to, 20), from) - from) && (j < 19) { x(rows(i) + from, j + 2) } else { 0 }
//@ expect summed: if (rows(i) >= 0) && (rows(i) < 20) { x(rows(i), j) + x(rows(i), j + 16) + if j < 8 { x(rows(i), j + 32) } else { 0 } } else { 0 }
//@ expect pages: if (whence(i) >= 0) && (j < 1) { y(whence(i), j + 2, k) } else { 0 }
//@ expect back: if whence(i) >= 0 { if j < 36 { x(whence(i), j + 4) } else { 0 } } else { 9 }
//@ case: contiguous
//@ case: a slice beyond the end
//@ arg from: i32 scalar 17
//@ arg to: i32 scalar 90
//@ case: misaligned
//@ arg x: T[20, 40] list(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11) offset(1)
//@ arg back: T[20, 40] fill(9) offset(1)
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = 4, grid = 1, instances(T = [u8, f16, f32, i64]))]
#[expect(clippy::too_many_arguments, reason = "each is a result of its own")]
pub fn listed<T: Number>(
    x: Tensor<T, 2>,
    y: Tensor<T, 3>,
    rows: Tensor<i32, 1>,
    whence: Tensor<i32, 1>,
    from: i32,
    to: i32,
    out: TensorMut<T, 2>,
    copied: TensorMut<T, 2>,
    sliced: TensorMut<T, 2>,
    summed: TensorMut<T, 2>,
    pages: TensorMut<T, 3>,
    back: TensorMut<T, 2>,
) {
    let rows = rows.tile([0], [16]).load();
    out.tile([0, 0], [16, 64]).store(x.tile_rows(rows, [1, -3], [16, 64]).load());

    let held = shared::<T>([16, 32]);
    copy_async(x.tile_rows(rows, [0, 16], [16, 32]), held);
    copy_async_wait_all();
    sync();
    copied.tile([0, 0], [16, 32]).store(held.load());

    let part = x.slice([from..to, 2..21]);
    sliced.tile([0, 0], [16, 32]).store(part.tile_rows(rows, [0, 0], [16, 32]).load());

    let step = shared::<T>([16, 16]);
    let mut sum = zeros::<T>([16, 16]);
    for column in pipeline(range(0, x.dim(1), 16), 2) {
        copy_async(x.tile_rows(rows, [0, column], [16, 16]), step);
        sum += step.load();
    }
    summed.tile([0, 0], [16, 16]).store(sum);

    let pages_of_y = whence.tile([0], [16]).load();
    pages.tile([0, 0, 0], [16, 2, 8]).store(y.tile_rows(pages_of_y, [0, 2, 0], [16, 2, 8]).load());
    back.tile_rows(rows, [0, -4], [16, 64]).store(x.tile([0, 0], [16, 64]).load());
}
