//! Blocks of more than 256 elements along an axis, and rows wider than a swizzle: copied by several instructions.

use kiln::prelude::*;

/// Copies a block of 512 rows, and rows of 1024 bytes.
#[kernel(target = [sm_90a, sm_100a], warps = 4, grid = 1)]
pub fn copy(
    #[block(512, 32)] tall: TensorMap<f16, 2>,
    #[block(4, 512)] wide: TensorMap<f16, 2>,
    #[block(4, 512)] out: TensorMapMut<f16, 2>,
) {
    let (a, b) = (shared::<f16>([512, 32]), shared::<f16>([4, 512]));
    let arrived = barrier(1);
    arrived.expect(tall.block_bytes() + wide.block_bytes());
    tma::load(tall, [0, 0], arrived, a);
    tma::load(wide, [0, 0], arrived, b);
    arrived.wait(0);
    tma::store(out, [0, 0], b);
    tma::store_wait(0);
}

fn main() {
    assert_eq!(copy::TARGETS.len(), 2);
}
