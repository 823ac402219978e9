// CUDA: A warp-specialised copy and sum as in CUTLASS: a block of three warpgroups. `warps = 12` is no power of two; a producer is a partition beside the kernel's warps.
// RIGHT: #[kernel(target = sm_90a, warps = 8, grid = cdiv(x.dim(0), 128))]
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 12, grid = cdiv(x.dim(0), 128))]
pub fn row_norms(#[block(128, 64)] x: TensorMap<bf16, 2>, out: TensorMut<f32, 1>) {
    let row = block_id(0) * 128;
    let tile = shared::<bf16>([128, 64]);
    let full = barrier(1);
    warp_specialize(
        || {
            full.wait(0);
            let v = tile.load().cast::<f32>();
            out.tile([row], [128]).store((v * v).sum(1).sqrt());
        },
        [partition(1).run(|| {
            full.expect(x.block_bytes());
            tma::load(x, [row, 0], full, tile);
        })],
    );
}

fn main() {}
