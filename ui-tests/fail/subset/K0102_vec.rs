use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn collect(x: TensorMut<f32, 1>) {
    let mut tiles = Vec::new();
    tiles.push(x.tile([0], [128]).load());
}

fn main() {}
