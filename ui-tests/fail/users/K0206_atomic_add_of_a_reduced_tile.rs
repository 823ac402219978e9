// CUDA: The sum of a vector over all blocks, as a block reduction and one atomicAdd. The sum of a tile is a tile of rank 0, and one address takes a scalar.
// RIGHT: atomic::add(total, part.item());
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 8, grid = cdiv(x.dim(0), 4096))]
pub fn sum_all(x: Tensor<f32, 1>, total: Ptr<f32>) {
    let first = block_id(0) * 4096;
    let mut acc = zeros::<f32>([1024]);
    for i in range(0, 4096, 1024) {
        acc += x.tile([first + i], [1024]).load();
    }
    let part = acc.sum(0);
    atomic::add(total, part);
}

fn main() {}
