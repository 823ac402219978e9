use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1)]
pub fn pairs(x: TensorMut<f32, 1>) {
    let tile = x.tile([0], [64]);
    tile.store(tile.load().to_layout(layout!(S[(32, 2) : (1 @ lane_id, 1)])));
}

fn main() {}
