use kiln::prelude::*;

// Wrong: a tile of numbers stands for `threadIdx.x`, and its mask for a branch that one thread takes; right is no condition at all: on one address the block adds once.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 1024))]
pub fn wrong(x: Tensor<f32, 1>, total: Ptr<f32>) {
    let tid = arange(0, 128);
    let part = x.tile([block_id(0) * 1024], [1024]).load();
    let energy = (part * part).sum(0).item();
    if tid.eq(0) {
        atomic::add(total, energy);
    }
}

fn main() {}
