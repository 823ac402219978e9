// Rust: Leaky ReLU for f16, bf16 and f32. The literal 0.0 stands where a T is required: type parameters have no literals.
// RIGHT: let y = select(v.gt(T::of(0.0)), v, v * slope);
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), N), instances(T = [f16, bf16, f32], N = [1024]))]
pub fn leaky_relu<T: Float, const N: i32>(x: Tensor<T, 1>, slope: T, out: TensorMut<T, 1>) {
    let at = [block_id(0) * N];
    let v = x.tile(at, [N]).load();
    let y = select(v.gt(0.0), v, v * slope);
    out.tile(at, [N]).store(y);
}

fn main() {}
