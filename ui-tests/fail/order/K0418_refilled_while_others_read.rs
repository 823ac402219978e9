use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn expected_early(#[block(64, 64)] x: TensorMap<f32, 2>, y: TensorMut<f32, 2>) {
    let (tile, full) = (shared::<f32>([64, 64]), barriers(2, 1));
    full[0].expect(tile.bytes());
    full[1].expect(tile.bytes());
    tma::load(x, [0, 0], full[0], tile);
    full[0].wait(0);
    y.tile([0, 0], [64, 64]).store(tile.load());
    tma::load(x, [64, 0], full[1], tile);
    full[1].wait(0);
    y.tile([64, 0], [64, 64]).store(tile.load());
}

fn main() {}
