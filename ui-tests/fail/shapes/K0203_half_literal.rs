use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(x: Tensor<f16, 1>, y: TensorMut<f16, 1>) {
    let tile = x.tile([0], [64]).load();
    y.tile([0], [64]).store(2.0 * tile);
    y.tile([64], [64]).store(select(tile.lt(0.5), tile, tile + 1.0));
}

fn main() {}
