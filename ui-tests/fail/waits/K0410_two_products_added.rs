use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn pair(#[block(64, 64)] a: TensorMap<bf16, 2>, #[block(64, 64)] b: TensorMap<bf16, 2>, c: TensorMut<f32, 2>) {
    let (sa, sb) = (shared::<bf16>([64, 64]), shared::<bf16>([64, 64]));
    let full = barrier(1);
    full.expect(a.block_bytes() + b.block_bytes());
    tma::load(a, [0, 0], full, sa);
    tma::load(b, [0, 0], full, sb);
    full.wait(0);
    let x = wgmma::mma(sa, sb, zeros::<f32>([64, 64]));
    let y = wgmma::mma(sb, sa, zeros::<f32>([64, 64]));
    let sum = x + y;
    c.tile([0, 0], [64, 64]).store(sum);
}

fn main() {}
