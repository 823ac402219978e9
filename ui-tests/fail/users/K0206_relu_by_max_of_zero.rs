// Triton: Residual add and ReLU. `.max(0.0)` as in torch.clamp or tl.maximum: `max` of a tile is the reduction and takes an axis.
// RIGHT: let y = maximum(a + b, 0.0);
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(x.dim(0), 16), cdiv(x.dim(1), 256)])]
pub fn add_relu(x: Tensor<f32, 2>, residual: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let at = [block_id(0) * 16, block_id(1) * 256];
    let a = x.tile(at, [16, 256]).load();
    let b = residual.tile(at, [16, 256]).load();
    let y = (a + b).max(0.0);
    out.tile(at, [16, 256]).store(y);
}

fn main() {}
