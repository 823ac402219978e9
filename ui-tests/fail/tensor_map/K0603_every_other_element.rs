//! Rows of which every other element counts.

use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fetch(
    #[block(64, 64)]
    #[stride(_, 2)]
    x: TensorMap<f16, 2>,
) {
    tma::prefetch(x, [0, 0]);
}

fn main() {}
