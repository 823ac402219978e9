// CUDA: One 64 x 128 tile of a product with wgmma. The epilogue uses the accumulator although the product is in flight: `wgmma::wait` is missing.
// RIGHT: let acc = wgmma::wait(0, wgmma::mma(sa, sb, zeros::<f32>([64, 128])));
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = [cdiv(c.dim(0), 64), cdiv(c.dim(1), 128)])]
pub fn matmul_k64(
    #[block(64, 64)] a: TensorMap<bf16, 2>,
    #[block(64, 128)] b: TensorMap<bf16, 2>,
    c: TensorMut<f32, 2>,
    alpha: f32,
) {
    let (m, n) = (block_id(0) * 64, block_id(1) * 128);
    let (sa, sb) = (shared::<bf16>([64, 64]), shared::<bf16>([64, 128]));
    let full = barrier(1);
    full.expect(a.block_bytes() + b.block_bytes());
    tma::load(a, [m, 0], full, sa);
    tma::load(b, [0, n], full, sb);
    full.wait(0);
    let acc = wgmma::mma(sa, sb, zeros::<f32>([64, 128]));
    c.tile([m, n], [64, 128]).store(acc * alpha);
}

fn main() {}
