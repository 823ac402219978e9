use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn window_of_rank_4(x: Tensor<f32, 2>, out: TensorMut<f32, 4>) {
    let v = x.tile([0, 0], [16, 128]).load();
    out.tile([0, block_id(0), 0, 0], [1, 1, 16, 128]).store(v);
}

#[kernel(target = sm_80, warps = 4, grid = x.dim(0), instances(ROWS = [16, 32]))]
pub fn named<const ROWS: i32>(x: Tensor<f32, 2>, out: TensorMut<f32, 3>) {
    let v = x.tile([0, 0], [ROWS, 128]).load();
    out.tile([block_id(0), 0, 0], [1, ROWS, 128]).store(v * 2.0 + 1.0);
}

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn smaller(x: Tensor<f32, 3>, out: TensorMut<f32, 2>) {
    let v = x.tile([0, 0, 0], [1, 16, 128]).load();
    out.tile([block_id(0), 0], [16, 128]).store(v);
}

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn row(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let window = out.tile([block_id(0), 0], [1, 128]);
    let v = x.tile([0, 0], [16, 128]).load();
    window.store(v.sum(0));
}

fn main() {}
