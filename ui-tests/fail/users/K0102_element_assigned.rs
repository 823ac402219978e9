use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let i = block_id(0) * 128 + thread_id();
    if i < x.dim(0) {
        out[i] = x[i] * 2.0;
    }
}

fn main() {}
