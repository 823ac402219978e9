use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn add(x: TensorMut<f32, 1>, bias: Option<Tensor<f32, 1>>) {
    let at = block_id(0) * 128;
    let w = x.tile([at], [128]);
    if bias.is_some() {
        w.store(w.load() + bias.tile([at], [128]).load());
    }
}

fn main() {}
