//! Counts of the values of a tile: what is below zero, and what is not less than the number of bins, is not counted. Each element counts once,
//! though several threads hold it.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: u8[512] bits
//@ arg y: i32[4, 8, 16] uniform(-3, 12)
//@ arg z: i64[8] list(0, 1, 4294967296, -1, 1, 9223372036854775807, 7, 8)
//@ arg s: i8[2, 32] list(0, 3, -1, 0, 127, -128, 1)
//@ arg bytes: i32[256] poison
//@ arg few: i32[8] poison
//@ arg long: i32[8] poison
//@ arg one: i32[1] poison
//@ arg many: i32[1024] poison
//@ expect bytes: sum(n, 0, 512, if x(n) == i { 1 } else { 0 })
//@ expect few: sum(a, 0, 4, sum(b, 0, 8, sum(c, 0, 16, if y(a, b, c) == i { 1 } else { 0 })))
//@ expect long: sum(n, 0, 8, if z(n) == i { 1 } else { 0 })
//@ expect one: sum(n, 0, 64, if s(n / 32, n % 32) == 0 { 1 } else { 0 })
//@ expect many: sum(n, 0, 64, if s(n / 32, n % 32) == i { 1 } else { 0 })
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = W, grid = 1, instances(W = [1, 4]))]
#[expect(clippy::too_many_arguments, reason = "one output for each histogram")]
pub fn histogram<const W: i32>(
    x: Tensor<u8, 1>,
    y: Tensor<i32, 3>,
    z: Tensor<i64, 1>,
    s: Tensor<i8, 2>,
    bytes: TensorMut<i32, 1>,
    few: TensorMut<i32, 1>,
    long: TensorMut<i32, 1>,
    one: TensorMut<i32, 1>,
    many: TensorMut<i32, 1>,
) {
    bytes.tile([0], [256]).store(x.tile([0], [512]).load().histogram(256));
    few.tile([0], [8]).store(y.tile([0, 0, 0], [4, 8, 16]).load().histogram(8));
    long.tile([0], [8]).store(z.tile([0], [8]).load().histogram(8));
    let s = s.tile([0, 0], [2, 32]).load();
    one.tile([0], [1]).store(s.histogram(1));
    many.tile([0], [1024]).store(s.histogram(1024));
}
