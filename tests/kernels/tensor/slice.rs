//! Slices: what bounds a window is known when the kernel runs. Reads outside of a slice give zero, and writes are dropped.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[20, 24] list(1, 2, 3, 4, 5, 6, 7)
//@ arg a: i32 scalar 3
//@ arg b: i32 scalar 17
//@ arg c: i32 scalar 2
//@ arg d: i32 scalar 21
//@ arg out: T[32, 32] poison
//@ arg rows: T[32, 32] poison
//@ arg copied: T[32, 32] poison
//@ arg back: T[20, 24] fill(9)
//@ arg dims: i32[4] poison
//@ expect out: if (i >= 2) && (i - 2 < max(max(min(a, 20), 0), min(b, 20)) - max(min(a, 20), 0)) { if (j + 1 < max(max(min(c, 24), 0), min(d, 24)) - max(min(c, 24), 0)) { x(i - 2 + max(min(a, 20), 0), j + 1 + max(min(c, 24), 0)) } else { 0 } } else { 0 }
//@ expect rows: if i < max(max(min(a, 20), 0), min(b, 20)) - max(min(a, 20), 0) { if j < 24 { x(i + max(min(a, 20), 0), j) } else { 0 } } else { 0 }
//@ expect copied: if i < max(min(b, 20), 0) { if j < 24 { x(i, j) } else { 0 } } else { 0 }
//@ expect back: if (i >= max(min(a, 20), 0)) && (i < max(max(min(a, 20), 0), min(b, 20))) { if (j >= max(min(c, 24), 0)) && (j < max(max(min(c, 24), 0), min(d, 24))) { 2 } else { 9 } } else { 9 }
//@ expect dims: if i == 0 { max(max(min(a, 20), 0), min(b, 20)) - max(min(a, 20), 0) } else { if i == 1 { max(max(min(c, 24), 0), min(d, 24)) - max(min(c, 24), 0) } else { if i == 2 { 24 } else { max(min(b, 20), 0) } } }
//@ case: inside
//@ case: no rows
//@ arg a: i32 scalar 5
//@ arg b: i32 scalar 5
//@ case: the end is before the beginning
//@ arg a: i32 scalar 9
//@ arg b: i32 scalar 4
//@ case: beyond the tensor
//@ arg a: i32 scalar 12
//@ arg b: i32 scalar 100
//@ arg c: i32 scalar 0
//@ arg d: i32 scalar 1000
//@ case: from before the tensor
//@ arg a: i32 scalar -7
//@ arg b: i32 scalar 8
//@ arg c: i32 scalar -100
//@ arg d: i32 scalar 24
//@ case: wholly before the tensor
//@ arg a: i32 scalar -9
//@ arg b: i32 scalar -3
//@ case: wholly behind the tensor
//@ arg a: i32 scalar 40
//@ arg b: i32 scalar 50
//@ case: everything
//@ arg a: i32 scalar -2147483648
//@ arg b: i32 scalar 2147483647
//@ arg c: i32 scalar -2147483648
//@ arg d: i32 scalar 2147483647
//@ case: nothing, from the largest number to the smallest
//@ arg a: i32 scalar 2147483647
//@ arg b: i32 scalar -2147483648
//@ arg c: i32 scalar 2147483647
//@ arg d: i32 scalar -2147483648
//@ case: columns in whole vectors
//@ arg c: i32 scalar 8
//@ arg d: i32 scalar 16
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = 4, grid = 1, instances(T = [u8, f16, f32, i64]))]
#[expect(clippy::too_many_arguments, reason = "each is a result of its own")]
pub fn slice<T: Cast>(
    x: Tensor<T, 2>,
    a: i32,
    b: i32,
    c: i32,
    d: i32,
    out: TensorMut<T, 2>,
    rows: TensorMut<T, 2>,
    copied: TensorMut<T, 2>,
    back: TensorMut<T, 2>,
    dims: TensorMut<i32, 1>,
) {
    let part = x.slice([a..b, c..d]);
    out.tile([0, 0], [32, 32]).store(part.tile([-2, 1], [32, 32]).load());
    let mine = x.slice((a..b, ..));
    rows.tile([0, 0], [32, 32]).store(mine.tile([0, 0], [32, 32]).load());
    let first = x.slice((..b, 0..x.dim(1)));
    let held = shared::<T>([32, 32]);
    copy_async(first.tile([0, 0], [32, 32]), held);
    copy_async_wait_all();
    sync();
    copied.tile([0, 0], [32, 32]).store(held.load());
    back.slice([a..b, c..d]).tile([-4, -4], [32, 32]).store(full([32, 32], 2_i32).cast::<T>());
    let i = arange(0, 4);
    let others = select(i.eq(2), full([4], mine.dim(1)), full([4], first.dim(0)));
    let others = select(i.eq(1), full([4], part.dim(1)), others);
    dims.tile([0], [4]).store(select(i.eq(0), full([4], part.dim(0)), others));
}
