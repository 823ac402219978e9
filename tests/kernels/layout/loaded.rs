//! Tiles that are loaded straight in the layout that they are pinned to: pairs of a row in each thread, pieces of two rows, the
//! result of a product. Nothing is converted for the pins, and no memory is shared.
//@ run: eval, emulate, gpu
//@ snapshot: layouts
//@ compare: exact
//@ arg x: T[64, 128] bits
//@ arg out: T[192, 128] poison
//@ expect out: x(i % 64, j)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1, instances(T = [f32]))]
pub fn loaded<T: Scalar>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    let x = x.tile([0, 0], [64, 128]);
    let pairs = x.load().to_layout(blocked([1, 2], [1, 32], [4, 1], [1, 0]));
    out.tile([0, 0], [64, 128]).store(pairs);
    let pieces = x.load().to_layout(blocked([2, 4], [4, 8], [1, 4], [1, 0]));
    out.tile([64, 0], [64, 128]).store(pieces);
    let result = x.load().to_layout(mma([2, 2]));
    out.tile([128, 0], [64, 128]).store(result);
}
