use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn copy(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    const ROWS: Layout = blocked([1, 4], [1, 16], [4, 1], [1, 0]);
    let tile = x.tile([0, 0], [64, 64]).load();
    y.tile([0, 0], [64, 64]).store(tile.to_layout(ROWS));
}

fn main() {}
