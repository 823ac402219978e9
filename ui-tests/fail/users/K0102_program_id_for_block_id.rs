// Triton: SiLU, elementwise. `program_id` is Triton's name; here a block's position is `block_id`.
// RIGHT: let at = [block_id(0) * N];
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), N), instances(N = [1024]))]
pub fn silu<const N: i32>(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [program_id(0) * N];
    let v = x.tile(at, [N]).load();
    let y = v / (1.0 + (-v).exp());
    out.tile(at, [N]).store(y);
}

fn main() {}
