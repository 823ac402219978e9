use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(x: Tensor<f32, 5>, out: TensorMut<f32, 5>) {
    let tile = x.tile([0, 0, 0, 0, 0], [2, 2, 2, 2, 8]).load();
    let (first, _) = join(tile, tile).split();
    out.tile([0, 0, 0, 0, 0], [2, 2, 2, 2, 8]).store(first);
}

fn main() {}
