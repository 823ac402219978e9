use kiln::prelude::*;

// Wrong: the reduction of a 1-D tile is a scalar in Triton, here a tile of rank 0, which `if` and `>` do not take; right is `if norm.item() > limit`.
#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn wrong(x: TensorMut<f32, 2>, limit: f32) {
    let row = x.tile([block_id(0), 0], [1, 1024]);
    let values = row.load().reshape([1024]);
    let norm = (values * values).sum(0).sqrt();
    if norm > limit {
        let clipped = values * (limit / norm);
        row.store(clipped.reshape([1, 1024]));
    }
}

fn main() {}
