use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = [cdiv(c.dim(0), 64), cdiv(c.dim(1), 128)])]
pub fn matmul(#[block(64, 64)] a: TensorMap<bf16, 2>, #[block(64, 128)] b: TensorMap<bf16, 2>, c: TensorMut<f32, 2>) {
    let (m, n) = (block_id(0) * 64, block_id(1) * 128);
    let (sa, sb) = (shared::<bf16>([64, 64]), shared::<bf16>([64, 128]));
    let full = barrier(1);
    let mut acc = zeros::<f32>([64, 128]);
    for k in range(0, a.dim(1), 64) {
        full.expect(a.block_bytes() + b.block_bytes());
        tma::load(a, [m, k], full, sa);
        tma::load(b, [k, n], full, sb);
        full.wait(k / 64 % 2);
        acc = wgmma::mma(sa, sb, acc);
    }
    c.tile([m, n], [64, 128]).store(acc);
}

fn main() {}
