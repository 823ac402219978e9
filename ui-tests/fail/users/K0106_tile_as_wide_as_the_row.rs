// Triton: RMSNorm, one block a row, the tile as wide as the row. The extent of a tile is `x.dim(1)`, known only at launch.
// RIGHT: let v = x.tile([row, 0], [1, N]).load(); // with `const N: i32` and instances(N = [1024, 4096])
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 8, grid = x.dim(0))]
pub fn rms_norm(x: Tensor<f32, 2>, eps: f32, out: TensorMut<f32, 2>) {
    let row = block_id(0);
    let n = x.dim(1);
    let v = x.tile([row, 0], [1, n]).load();
    let mean = (v * v).sum(1) / (n as f32);
    let scale = (mean + eps).rsqrt().expand(1);
    out.tile([row, 0], [1, n]).store(v * scale);
}

fn main() {}
