use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f16, 2>, out: TensorMut<f16, 2>) {
    x.tile([0, 0], [4096, 4096]).prefetch();
    out.tile([0, 0], [64, 64]).store(x.tile([0, 0], [64, 64]).load());
}

fn main() {}
