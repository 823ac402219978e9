use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn copy(#[block(64, 64)] x: TensorMap<f32, 2>, y: TensorMut<f32, 2>) {
    let tile = shared::<f32>([64, 64]);
    let full = barrier(1);
    warp_specialize(
        || {
            y.tile([0, 0], [64, 64]).store(tile.load());
        },
        [partition(1).run(|| {
            full.expect(tile.bytes());
            tma::load(x, [0, 0], full, tile);
        })],
    );
}

fn main() {}
