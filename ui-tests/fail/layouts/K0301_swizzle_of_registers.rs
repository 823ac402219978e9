use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn copy(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let tile = x.tile([0, 0], [64, 64]).load();
    y.tile([0, 0], [64, 64]).store(tile.to_layout(swizzle(128)));
}

fn main() {}
