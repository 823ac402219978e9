//! What a grid does before it waits for those before it: accesses through pointers, and what another part of the kernel hands over.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn weights_first(w: Ptr<f32>, x: TensorMut<f32, 1>, more: bool) {
    launch_dependents();
    let weights = load(w + arange(0, 64));
    grid_dependency_wait();
    if more {
        return;
    }
    let window = x.tile([0], [64]);
    window.store(window.load() * weights);
}

/// The others see what the part that waits hands over.
#[kernel(target = sm_90a, warps = 4)]
pub fn one_part_waits(#[block(64, 64)] x: TensorMap<f32, 2>, #[block(64, 64)] y: TensorMapMut<f32, 2>) {
    let (tile, full) = (shared::<f32>([64, 64]), barrier(1));
    warp_specialize(
        || full.wait(0),
        [partition(1).run(|| {
            grid_dependency_wait();
            full.expect(x.block_bytes());
            tma::load(x, [0, 0], full, tile);
            full.wait(0);
            tma::store(y, [0, 0], tile);
            tma::store_wait(0);
        })],
    );
}

fn main() {}
