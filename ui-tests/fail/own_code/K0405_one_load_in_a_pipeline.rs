// Triton: `num_stages` for a reduction over loads.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 16))]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let row = block_id(0) * 16;
    let mut total = zeros::<f32>([16]);
    for at in pipeline(range(0, x.dim(1), 128), 3) {
        let v = x.tile([row, at], [16, 128]).load();
        total += (v * v).sum(1);
    }
    out.tile([row], [16]).store(total);
}

fn main() {}
