use kiln::prelude::*;

/// One tile of 128 × 128: one step of 64 along `k`, into tensor memory.
#[kernel(target = sm_100f, warps = 4, grid = [cdiv(c.dim(0), 128), cdiv(c.dim(1), 128)])]
pub fn product(
    #[block(128, 64)] a: TensorMap<bf16, 2>,
    #[block(128, 64)] b: TensorMap<bf16, 2>,
    c: TensorMut<f32, 2>,
) {
    let (m, n) = (block_id(0) * 128, block_id(1) * 128);
    let (sa, sb) = (shared::<bf16>([128, 64]), shared::<bf16>([128, 64]));
    let acc = tmem::<f32>([128, 128]);
    let (full, done) = (barrier(1), barrier(1));
    full.expect(a.block_bytes() + b.block_bytes());
    tma::load(a, [m, 0], full, sa);
    tma::load(b, [n, 0], full, sb);
    full.wait(0);
    tcgen05::mma(sa, sb.t(), acc).accumulate(false);
    done.wait(0);
    c.tile([m, n], [128, 128]).store(acc.load());
}

fn main() {}
