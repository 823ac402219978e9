// Rust: Reciprocal square root of a vector. The extent is a `const N: usize`; shapes and positions are i32.
// RIGHT: pub fn inverse_root<const N: i32>(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), 512), instances(N = [512]))]
pub fn inverse_root<const N: usize>(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let first = block_id(0) * 512;
    let v = x.tile([first], [N]).load();
    let y = (v + 1e-6).rsqrt();
    out.tile([first], [N]).store(y);
}

fn main() {}
