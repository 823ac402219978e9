use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let tile = x.tile([0, 0], [64, 64]).load();
    out.tile([0, 0], [64, 64]).store(tile.permute([1, 0, 2]));
}

fn main() {}
