use kiln::prelude::*;

/// Clips at `limit`, and counts in each block how many elements were clipped.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 512))]
pub fn clip(x: TensorMut<f32, 1>, limit: f32, counts: TensorMut<i32, 1>) {
    let window = x.tile([block_id(0) * 512], [512]);
    let tile = window.load();
    let mut clipped = 0;
    window.store(tile.map(|v| {
        if v > limit {
            clipped += 1;
            limit
        } else {
            v
        }
    }));
    counts.tile([block_id(0)], [1]).store(full([1], clipped));
}

fn main() {}
