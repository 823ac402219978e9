use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
pub fn double<T: Float>(x: TensorMut<T, 1>) {
    let w = x.tile([block_id(0) * 128], [128]);
    w.store(w.load() + w.load());
}

fn main() {}
