// CUDA: an angle is brought into one turn by `%`.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), 256))]
pub fn wrong(angle: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * 256];
    let turn = 6.2831855;
    out.tile(at, [256]).store(angle.tile(at, [256]).load() % turn);
}

fn main() {}
