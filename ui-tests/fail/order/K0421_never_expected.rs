use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn never_expected(#[block(64, 64)] x: TensorMap<f32, 2>, y: TensorMut<f32, 2>) {
    let (tile, full) = (shared::<f32>([64, 64]), barrier(1));
    warp_specialize(
        || {
            full.wait(0);
            y.tile([0, 0], [64, 64]).store(tile.load());
        },
        [partition(1).run(|| {
            tma::load(x, [0, 0], full, tile);
        })],
    );
}

fn main() {}
