use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = table.dim(0))]
pub fn address(table: Tensor<i32, 1>, out: TensorMut<f32, 1>) {
    let seq = block_id(0);
    let length = load(table + seq);
    out.tile([length], [128]).store(zeros([128]));
}

#[kernel(target = sm_80, warps = 4, grid = table.dim(0))]
pub fn matrix(table: Tensor<i32, 2>, out: TensorMut<f32, 1>) {
    let seq = block_id(0);
    let length = load(table + seq);
    out.tile([length], [128]).store(zeros([128]));
}

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 256))]
pub fn offset(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let offsets = block_id(0) * 256 + arange(0, 256);
    let mask = offsets.lt(x.dim(0));
    let v = load_masked(x + offsets, mask, 0.0);
    out.tile([block_id(0) * 256], [256]).store(v);
}

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 256))]
pub fn other(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let offsets = (block_id(0) * 256 + arange(0, 256)) * 2;
    let mask = offsets.lt(x.dim(0));
    let v = load_masked(x + offsets, mask, 0.0);
    out.tile([block_id(0) * 256], [256]).store(v);
}

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 256))]
pub fn stored(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let offsets = block_id(0) * 256 + arange(0, 256);
    let mask = offsets.lt(x.dim(0));
    store_masked(out + offsets, mask, x.tile([block_id(0) * 256], [256]).load());
}

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 256))]
pub fn filled(x: Tensor<f32, 1>, out: TensorMut<f32, 1>, even: i32) {
    let offsets = arange(0, 256) + block_id(0) * 256;
    let v = load_masked(x + offsets, (offsets & 1).eq(even), -1.0);
    out.tile([block_id(0) * 256], [256]).store(v);
}

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn one(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let v = x.tile([block_id(0)], [1]).load().item();
    store(out + block_id(0), v);
}

fn main() {}
