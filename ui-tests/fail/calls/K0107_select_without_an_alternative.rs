use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(x.dim(0), 128)])]
pub fn clip(x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let at = [block_id(0) * 128];
    let v = x.tile(at, [128]).load();
    y.tile(at, [128]).store(select(v.gt(1.0), v));
}

fn main() {}
