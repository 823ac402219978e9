use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fetch(#[block(64, 32)] x: TensorMap<f16, 2>, y: TensorMut<f16, 2>) {
    let tile = shared::<f16>([64, 32]).with_layout(swizzle(128));
    let full = barrier(1);
    full.expect_copies();
    tma::load(x, [0, 0], full, tile);
    full.wait(0);
    y.tile([0, 0], [64, 32]).store(tile.load());
}

fn main() {}
