use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn relu(x: TensorMut<f32, 1>) {
    let tile = x.tile([0], [128]).load();
    x.tile([0], [128]).store(select(tile < 0.0, 0.0, tile));
}

fn main() {}
