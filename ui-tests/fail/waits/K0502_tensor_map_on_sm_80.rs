use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn copy(#[block(64, 64)] x: TensorMap<f32, 2>, out: TensorMut<f32, 2>) {
    let tile = shared::<f32>([64, 64]);
    let full = barrier(1);
    full.expect(x.block_bytes());
    tma::load(x, [0, 0], full, tile);
    full.wait(0);
    out.tile([0, 0], [64, 64]).store(tile.load());
}

fn main() {}
