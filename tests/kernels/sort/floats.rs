//! NaN comes last in both directions, also one with a sign; -0 comes before +0. Of equal elements, and of NaNs, the first index comes first.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg bits: u32[16] list(0x7fc00000, 0x80000000, 0x3f800000, 0xff800000, 0, 0xffc00001, 0x7f800000, 0x80000000, 0xbf800000, 0, 1, 0x80000001, 0x3f800000, 0x7f800001, 0x7f7fffff, 0xff7fffff)
//@ arg sorted: u32[16] poison
//@ arg descending: u32[16] poison
//@ arg order: i32[16] poison
//@ arg descending_order: i32[16] poison
//@ arg nans: bool[16] poison
//@ arg want: u32[16] list(0xff800000, 0xff7fffff, 0xbf800000, 0x80000001, 0x80000000, 0x80000000, 0, 0, 1, 0x3f800000, 0x3f800000, 0x7f7fffff, 0x7f800000, 7, 7, 7)
//@ arg want_order: i32[16] list(3, 15, 8, 11, 1, 7, 4, 9, 10, 2, 12, 14, 6, 0, 5, 13)
//@ arg want_descending: i32[16] list(6, 14, 2, 12, 10, 4, 9, 1, 7, 11, 8, 15, 3, 0, 5, 13)
//@ expect sorted: want(i)
//@ expect order: want_order(i)
//@ expect descending: if i < 13 { want(12 - i) } else { 7 }
//@ expect descending_order: want_descending(i)
//@ expect nans: i >= 13
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 2]))]
#[expect(clippy::too_many_arguments, reason = "one output for each sort, and what it has to be")]
pub fn floats<const W: i32>(
    bits: Tensor<u32, 1>,
    sorted: TensorMut<u32, 1>,
    descending: TensorMut<u32, 1>,
    order: TensorMut<i32, 1>,
    descending_order: TensorMut<i32, 1>,
    nans: TensorMut<bool, 1>,
    want: Tensor<u32, 1>,
    want_order: Tensor<i32, 1>,
    want_descending: Tensor<i32, 1>,
) {
    let x = bits.tile([0], [16]).load().bitcast::<f32>();
    let (up, down) = (x.sort(0), x.sort_descending(0));
    // A NaN stays one, with bits of its own.
    nans.tile([0], [16]).store(up.is_nan() & down.is_nan());
    sorted.tile([0], [16]).store(select(up.is_nan(), 7, up.bitcast::<u32>()));
    descending.tile([0], [16]).store(select(down.is_nan(), 7, down.bitcast::<u32>()));
    order.tile([0], [16]).store(x.argsort(0));
    descending_order.tile([0], [16]).store(x.argsort_descending(0));
}
