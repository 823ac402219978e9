use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(x: Tensor<f32, 3>, out: TensorMut<f32, 3>) {
    let tile = x.tile([0, 0, 0], [4, 8, 16]).load();
    out.tile([0, 0, 0], [16, 4, 16]).store(tile.permute([2, 0, 2]));
}

fn main() {}
