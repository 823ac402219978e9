use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn begins_with_1(#[block(64, 64)] x: TensorMap<f32, 2>, y: TensorMut<f32, 2>) {
    let (tile, full) = (shared::<f32>([64, 64]), barrier(1));
    full.expect(tile.bytes());
    tma::load(x, [0, 0], full, tile);
    full.wait(1);
    y.tile([0, 0], [64, 64]).store(tile.load());
}

fn main() {}
