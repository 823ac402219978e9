// Rust: SwiGLU with the activation in its own function. The function lacks `#[device]`, so the kernel cannot call it.
// RIGHT: #[device] before `fn swish`
use kiln::prelude::*;

/// x / (1 + exp(-x))
fn swish(x: Tile<f32>) -> Tile<f32> {
    x / (1.0 + (-x).exp())
}

#[kernel(target = sm_80, warps = 4, grid = [cdiv(out.dim(0), 16), cdiv(out.dim(1), 128)])]
pub fn swiglu(gate: Tensor<f32, 2>, up: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let at = [block_id(0) * 16, block_id(1) * 128];
    let g = gate.tile(at, [16, 128]).load();
    let u = up.tile(at, [16, 128]).load();
    out.tile(at, [16, 128]).store(swish(g) * u);
}

fn main() {}
