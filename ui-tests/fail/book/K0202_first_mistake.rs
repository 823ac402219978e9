use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), N), instances(N = [1024]))]
pub fn vector_add<const N: i32>(a: Tensor<f32, 1>, b: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * N];
    out.tile(at, [N]).store(a.tile(at, [N]).load() + b.tile(at, [N / 2]).load());
}

fn main() {}
