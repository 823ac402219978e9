use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn copy(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let rows = blocked([1, 4], [2, 16], [2, 1], [1, 0]);
    let tile = x.tile([0, 0], [64, 64]).load().to_layout(rows);
    y.tile([0, 0], [64, 64]).store(tile);
}

fn main() {}
