use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = lengths.dim(0))]
pub fn element(lengths: Tensor<i32, 1>, out: TensorMut<f32, 1>) {
    let seq = block_id(0);
    let length = load(lengths, seq);
    out.tile([length], [128]).store(zeros([128]));
}

#[kernel(target = sm_80, warps = 4, grid = table.dim(0))]
pub fn coordinates(table: Tensor<i32, 2>, out: TensorMut<f32, 1>) {
    let seq = block_id(0);
    let length = table.load([seq, 0]);
    out.tile([length], [128]).store(zeros([128]));
}

fn main() {}
