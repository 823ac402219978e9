//! A map has the bytes of a tensor, and of its block.

use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fetch(#[block(64, 64)] x: TensorMap<f16, 2>) {
    let (tile, arrived) = (shared::<f16>([64, 64]), barrier(1));
    arrived.expect(x.bytes());
    tma::load(x, [0, 0], arrived, tile);
    arrived.wait(0);
}

fn main() {}
