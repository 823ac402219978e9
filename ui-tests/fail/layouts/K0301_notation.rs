use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1)]
pub fn strides(x: TensorMut<f32, 1>) {
    let tile = x.tile([0], [64]);
    tile.store(tile.load().to_layout(layout!(S[(32, 2) : (1 @ laneid)])));
}

#[kernel(target = sm_80, warps = 1)]
pub fn extents(x: TensorMut<f32, 1>) {
    let tile = x.tile([0], [64]);
    tile.store(tile.load().to_layout(layout!(S[(32, 3) : (1 @ laneid, 1)])));
}

fn main() {}
