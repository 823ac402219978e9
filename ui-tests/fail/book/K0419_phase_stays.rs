use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn copy(#[block(64, 32)] x: TensorMap<f32, 2>, y: TensorMut<f32, 2>) {
    let (tile, full) = (shared::<f32>([64, 32]), barrier(1));
    for row in range(0, x.dim(0), 64) {
        full.expect(x.block_bytes());
        tma::load(x, [row, 0], full, tile);
        full.wait(0);
        y.tile([row, 0], [64, 32]).store(tile.load());
        sync();
    }
}

fn main() {}
