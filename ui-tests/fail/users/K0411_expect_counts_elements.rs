// CUDA: Scales a matrix that TMA brings to shared memory. The barrier expects 64 * 64 bytes, but a block has 64 * 64 elements of two bytes.
// RIGHT: full.expect(x.block_bytes()); // 64 * 64 * 2
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = [cdiv(x.dim(0), 64), cdiv(x.dim(1), 64)])]
pub fn scale_tiles(#[block(64, 64)] x: TensorMap<f16, 2>, y: TensorMut<f32, 2>, factor: f32) {
    let (row, column) = (block_id(0) * 64, block_id(1) * 64);
    let tile = shared::<f16>([64, 64]);
    let full = barrier(1);
    full.expect(64 * 64);
    tma::load(x, [row, column], full, tile);
    full.wait(0);
    y.tile([row, column], [64, 64]).store(tile.load().cast::<f32>() * factor);
}

fn main() {}
