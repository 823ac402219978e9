// CUDA: Row sums with TMA. `tma::load` takes a tensor map, and the parameter is an ordinary `Tensor` without a block.
// RIGHT: #[block(32, 128)] x: TensorMap<f32, 2>,
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = cdiv(x.dim(0), 32))]
pub fn row_sums(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let row = block_id(0) * 32;
    let tile = shared::<f32>([32, 128]);
    let full = barrier(1);
    full.expect(tile.bytes());
    tma::load(x, [row, 0], full, tile);
    full.wait(0);
    out.tile([row], [32]).store(tile.load().sum(1));
}

fn main() {}
