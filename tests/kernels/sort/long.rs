//! Lines that are longer than a warp, and than the block: the network and the evaluator's sort agree.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[2048] uniform(-1, 1)
//@ arg y: u8[2, 1024] bits
//@ arg z: i64[512] bits
//@ arg sorted: f32[2048] poison
//@ arg order: i32[2048] poison
//@ arg bytes: u8[2, 1024] poison
//@ arg byte_order: i32[2, 1024] poison
//@ arg words: i64[512] poison
//@ arg word_order: i32[512] poison
//@ arg rest: f32[2048] poison
//@ expect rest: 0.0
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4, 16]))]
#[expect(clippy::too_many_arguments, reason = "an output for each sort")]
pub fn long<const W: i32>(
    x: Tensor<f32, 1>,
    y: Tensor<u8, 2>,
    z: Tensor<i64, 1>,
    sorted: TensorMut<f32, 1>,
    order: TensorMut<i32, 1>,
    bytes: TensorMut<u8, 2>,
    byte_order: TensorMut<i32, 2>,
    words: TensorMut<i64, 1>,
    word_order: TensorMut<i32, 1>,
    rest: TensorMut<f32, 1>,
) {
    let x = x.tile([0], [2048]).load();
    let (in_order, indices) = (x.sort(0), x.argsort(0));
    sorted.tile([0], [2048]).store(in_order);
    order.tile([0], [2048]).store(indices);
    rest.tile([0], [2048]).store(x.gather(0, indices) - in_order);
    let y = y.tile([0, 0], [2, 1024]).load();
    bytes.tile([0, 0], [2, 1024]).store(y.sort_descending(1));
    byte_order.tile([0, 0], [2, 1024]).store(y.argsort_descending(1));
    let z = z.tile([0], [512]).load();
    words.tile([0], [512]).store(z.sort(0));
    word_order.tile([0], [512]).store(z.argsort(0));
}
