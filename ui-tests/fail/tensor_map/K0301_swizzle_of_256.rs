//! A swizzle that the hardware does not have.

use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fetch(#[block(64, 128)] x: TensorMap<f16, 2>) {
    let tile = shared::<f16>([64, 128]).with_layout(swizzle(256));
    let arrived = barrier(1);
    arrived.expect(x.block_bytes());
    tma::load(x, [0, 0], arrived, tile);
    arrived.wait(0);
}

fn main() {}
