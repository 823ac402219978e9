use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 512))]
pub fn lengths(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let tile = x.tile([block_id(0) * 512], [512]).load();
    let squares: f32 = tile.iter().map(|v| v * v).sum();
    out.tile([block_id(0)], [1]).store(full([1], squares).sqrt());
}

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 512))]
pub fn sums(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let tile = x.tile([block_id(0) * 512], [512]).load();
    out.tile([block_id(0)], [1]).store(full([1], tile.iter().sum::<f32>()));
}

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 512))]
pub fn folded(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let tile = x.tile([block_id(0) * 512], [512]).load();
    out.tile([block_id(0)], [1]).store(full([1], tile.iter().fold(0.0, |a, b| a + b)));
}

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 512))]
pub fn greatest(x: TensorMut<f32, 2>) {
    let tile = x.tile([0, 0], [16, 64]).load();
    let top: f32 = tile.iter().map(|v| v.abs()).fold(f32::MIN, f32::max);
    x.tile([0, 0], [16, 64]).store(tile - top);
}

fn main() {}
