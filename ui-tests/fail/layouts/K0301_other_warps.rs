use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn copy(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let tile = x.tile([0, 0], [64, 64]).load();
    let wide = tile.to_layout(blocked([1, 4], [2, 16], [8, 1], [1, 0]));
    y.tile([0, 0], [64, 64]).store(wide);
}

fn main() {}
