use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, instances(N = [32, 64, 128]))]
pub fn copy<const N: i32>(x: TensorMut<f32, 2>) {
    let tile = x.tile([0, 0], [64, 64]);
    tile.store(tile.load().to_layout(blocked([1, 4], [N, 4], [4, 1], [1, 0])));
}

fn main() {}
