use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 256))]
pub fn scale(x: Tensor<f32, 1>, y: TensorMut<f32, 1>, by: f32) {
    let at = block_id(0) * 256;
    let mut tile = x.tile([at], [256]).load();
    for _ in 0..block_id(0) {
        tile = doubled(tile, by);
    }
    y.tile([at], [256]).store(tile);
}

fn doubled(tile: Tile<f32>, by: f32) -> Tile<f32> {
    tile * by
}

fn main() {}
