use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(x.dim(1), 64), cdiv(x.dim(0), 16)])]
pub fn bias_relu(x: TensorMut<f32, 2>, bias: Tensor<f32, 1>) {
    let (row, column) = (block_id(1) * 16, block_id(0) * 64);
    let window = x.tile([row, column], [16, 64]);
    let bias = bias.tile([column], [64]).load().expand(1);
    window.store(maximum(window.load() + bias, 0.0));
}

#[kernel(target = sm_80, warps = 4, grid = [cdiv(x.dim(1), 64), cdiv(x.dim(0), 16)])]
pub fn bias_in_place(x: TensorMut<f32, 2>, bias: Tensor<f32, 1>) {
    let (row, column) = (block_id(1) * 16, block_id(0) * 64);
    let window = x.tile([row, column], [16, 64]);
    let bias = bias.tile([column], [64]).load();
    window.store(window.load() + bias.expand(1));
}

fn main() {}
