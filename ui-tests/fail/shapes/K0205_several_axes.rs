use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn sums(x: Tensor<f32, 3>, y: TensorMut<f32, 1>) {
    let tile = x.tile([0, 0, 0], [4, 8, 16]).load();
    y.tile([0], [4]).store(tile.sum([1, 3]));
    y.tile([0], [4]).store(tile.sum([1, -2]));
    y.tile([0], [4]).store(tile.max([]));
    y.tile([0], [4]).store(tile.reduce([1, -4], |a, b| a * b));
}

fn main() {}
