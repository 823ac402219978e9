use kiln::prelude::*;

/// Keys in pages.
#[kernel(target = sm_80, warps = 4, grid = table.dim(0))]
pub fn paged(table: Tensor<i32, 2>, keys: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let seq = block_id(0);
    let page = table.tile([seq, 0], [1, 1]).load();
    let v = keys.tile([page, 0], [1, 128]).load();
    out.tile([seq, 0], [1, 128]).store(v);
}

/// An index of 64 bits.
#[kernel(target = sm_80, warps = 4, grid = table.dim(0))]
pub fn wide(table: Tensor<i64, 1>, keys: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let page = table.tile([block_id(0)], [1]).load();
    let v = keys.tile([page, 0], [1, 128]).load();
    out.tile([block_id(0), 0], [1, 128]).store(v);
}

/// Converted by hand.
#[kernel(target = sm_80, warps = 4, grid = table.dim(0))]
pub fn converted(table: Tensor<i64, 1>, keys: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let page = table.tile([block_id(0)], [1]).load() as i32;
    let v = keys.tile([page, 0], [1, 128]).load();
    out.tile([block_id(0), 0], [1, 128]).store(v);
}

/// The same of a sum.
#[kernel(target = sm_80, warps = 4, grid = lengths.dim(0))]
pub fn added(lengths: Tensor<i32, 1>, out: TensorMut<f32, 1>) {
    let length = lengths.tile([block_id(0)], [1]).load();
    out.tile([block_id(0) + length], [128]).store(zeros([128]));
}

fn main() {}
