use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(m, 64)])]
pub fn project(x: Tensor<bf16, 2>, w: Tensor<bf16, 2>, y: TensorMut<f32, 2>, m: i32) {
    let row = block_id(0) * 64;
    let rows = x.tile([row, 0], [64, 128]).load();
    let weights = w.tile([0, 0], [128, 32]).load();
    y.tile([row, 0], [64, 32]).store(dot(rows, weights));
}

fn main() {}
