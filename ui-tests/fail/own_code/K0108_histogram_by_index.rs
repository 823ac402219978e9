// CUDA: counts are added to by index.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(keys.dim(0), 256))]
pub fn wrong(keys: Tensor<i32, 1>, counts: TensorMut<i32, 1>) {
    let first = block_id(0) * 256;
    let here = keys.tile([first], [256]).load();
    let zeros = here.eq(0).cast::<i32>().sum(0).item();
    counts[block_id(0)] += zeros;
}

fn main() {}
