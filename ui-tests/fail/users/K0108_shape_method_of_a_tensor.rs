// Rust: Subtracts from each row its mean. `x.shape()[1]` as on the host: in a kernel an extent is `x.dim(1)`.
// RIGHT: let columns = x.dim(1);
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn centre_rows(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let row = block_id(0);
    let columns = x.shape()[1];
    let v = x.tile([row, 0], [1, 2048]).load();
    let mean = v.sum(1) / (columns as f32);
    out.tile([row, 0], [1, 2048]).store(v - mean.expand(1));
}

fn main() {}
