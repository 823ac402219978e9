use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn through_shared(#[block(64, 64)] x: TensorMap<f16, 2>, y: TensorMut<f16, 2>) {
    let (tile, full) = (shared::<f16>([64, 64]), barrier(1));
    full.expect(x.block_bytes());
    tma::load(x, [0, 0], full, tile);
    y.tile([0, 0], [64, 64]).store(tile.load());
}

fn main() {}
