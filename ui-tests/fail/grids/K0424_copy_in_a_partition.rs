use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn loaded(#[block(64, 64)] x: TensorMap<f32, 2>, y: TensorMut<f32, 2>) {
    let (tile, full) = (shared::<f32>([64, 64]), barrier(1));
    warp_specialize(
        || {
            full.wait(0);
            grid_dependency_wait();
            y.tile([0, 0], [64, 64]).store(tile.load());
        },
        [partition(1).run(|| {
            full.expect(x.block_bytes());
            tma::load(x, [0, 0], full, tile);
        })],
    );
}

fn main() {}
