use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn row_sums(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let tile = x.tile([0, 0], [128, 64]).load();
    out.tile([0], [128]).store(tile.sum(2));
}

fn main() {}
