use kiln::prelude::*;

// Wrong: an optional parameter is taken apart by a method of `Option` with a closure; right is `if let Some(bias) = bias { sum += bias.tile([column], [128]).load().expand(0); }`.
#[kernel(target = sm_80, warps = 4, grid = [cdiv(x.dim(0), 16), cdiv(x.dim(1), 128)])]
pub fn wrong(x: Tensor<f32, 2>, bias: Option<Tensor<f32, 1>>, out: TensorMut<f32, 2>) {
    let (row, column) = (block_id(0) * 16, block_id(1) * 128);
    let sum = x.tile([row, column], [16, 128]).load();
    let shift = bias.map_or(zeros::<f32>([128]), |bias| bias.tile([column], [128]).load());
    let result = (sum + shift.expand(0)).tanh();
    out.tile([row, column], [16, 128]).store(result);
}

fn main() {}
