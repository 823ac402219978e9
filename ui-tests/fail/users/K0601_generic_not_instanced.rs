use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn wrong<T: Float, const N: i32>(x: Tensor<T, 2>, out: TensorMut<T, 2>) {
    let v = x.tile([block_id(0), 0], [1, N]).load();
    out.tile([block_id(0), 0], [1, N]).store(v);
}

fn main() {}
