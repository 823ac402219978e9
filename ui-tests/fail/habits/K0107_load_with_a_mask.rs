use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn softmax(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let at = [block_id(0), 0];
    let inside = arange(0, 1024).lt(x.dim(1)).expand(0);
    let row = x.tile(at, [1, 1024]).load(inside, f32::NEG_INFINITY);
    let powers = (row - row.max(1).expand(1)).exp();
    out.tile(at, [1, 1024]).store(powers / powers.sum(1).expand(1));
}

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn masked(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let at = [block_id(0), 0];
    let inside = arange(0, 1024).lt(x.dim(1)).expand(0);
    let row = x.tile(at, [1, 1024]).load(inside);
    out.tile(at, [1, 1024]).store(row);
}

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn masked_zero(x: Tensor<bf16, 2>, out: TensorMut<bf16, 2>) {
    let at = [block_id(0), 0];
    let inside = arange(0, 1024).lt(x.dim(1)).expand(0);
    let row = x.tile(at, [1, 1024]).load(inside, 0.0);
    out.tile(at, [1, 1024]).store(row);
}

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn even(x: Tensor<bf16, 2>, out: TensorMut<bf16, 2>) {
    let at = [block_id(0), 0];
    let chosen = (arange(0, 1024) & 1).eq(0).expand(0);
    let row = x.tile(at, [1, 1024]).load(chosen);
    out.tile(at, [1, 1024]).store(row);
}

fn main() {}
