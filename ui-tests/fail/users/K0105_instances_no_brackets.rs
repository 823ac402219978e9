use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), N), instances(N = 128))]
pub fn halve<const N: i32>(x: TensorMut<f32, 1>) {
    let w = x.tile([block_id(0) * N], [N]);
    w.store(w.load() * 0.5);
}

fn main() {}
