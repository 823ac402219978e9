use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn relu(x: TensorMut<f32, 1>) {
    let mut tile = x.tile([0], [128]).load();
    if tile.lt(0.0) {
        tile = zeros([128]);
    }
    x.tile([0], [128]).store(tile);
}

fn main() {}
