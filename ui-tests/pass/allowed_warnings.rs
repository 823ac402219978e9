//! Warnings of Kiln, which a crate makes errors, are allowed on a kernel or its module.
#![deny(deprecated)]
use kiln::prelude::*;

#[allow(deprecated)]
#[kernel(target = sm_100a, warps = 4)]
pub fn above(#[block(1, 64)] x: TensorMap<f16, 2>, rows: Tensor<i32, 1>) {
    let rows = rows.tile([0], [256]).load().to_layout(blocked([256], [32], [4], [0]));
    let tile = shared::<f16>([256, 64]);
    let full = barrier(1);
    full.expect(256 * x.block_bytes());
    tma::gather(x, rows, 0, full, tile);
    full.wait(0);
}

#[kernel]
#[allow(deprecated)]
mod below {
    use kiln::prelude::*;

    const ROWS: i32 = 256;

    #[kernel(target = sm_100a, warps = 4)]
    pub fn fetch(#[block(1, 64)] x: TensorMap<f16, 2>, rows: Tensor<i32, 1>) {
        let rows = rows.tile([0], [ROWS]).load().to_layout(blocked([256], [32], [4], [0]));
        let tile = shared::<f16>([ROWS, 64]);
        let full = barrier(1);
        full.expect(ROWS * x.block_bytes());
        tma::gather(x, rows, 0, full, tile);
        full.wait(0);
    }
}

fn main() {}
