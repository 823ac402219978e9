use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn sums(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let tile = x.tile([0, 0], [128, 64]).load();
    out.tile([0], [128]).store(tile.reduce(1, |a| a + 1.0));
}

fn main() {}
