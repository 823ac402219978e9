// Rust: Multiplies two vectors. The parameters are Rust slices: a kernel takes tensors, pointers and scalars.
// RIGHT: pub fn multiply(a: Tensor<f32, 1>, b: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn multiply(a: &[f32], b: &[f32], out: &mut [f32]) {
    let at = [block_id(0) * 1024];
    let x = a.tile(at, [1024]).load();
    let y = b.tile(at, [1024]).load();
    out.tile(at, [1024]).store(x * y);
}

fn main() {}
