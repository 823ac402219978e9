use kiln::prelude::*;

#[kernel(target = sm_100f, warps = 4, grid = 1)]
pub fn product(
    #[block(128, 64)] a: TensorMap<bf16, 2>,
    #[block(128, 64)] b: TensorMap<bf16, 2>,
    c: TensorMut<f32, 2>,
) {
    let (sa, sb) = (shared::<bf16>([128, 64]), shared::<bf16>([128, 64]));
    let full = barrier(1);
    full.expect(a.block_bytes() + b.block_bytes());
    tma::load(a, [0, 0], full, sa);
    tma::load(b, [0, 0], full, sb);
    full.wait(0);
    let acc = tmem::<f32>([128, 128]);
    tcgen05::mma(sa, sb.t(), acc).accumulate(false);
    sync();
    c.tile([0, 0], [128, 128]).store(acc.load());
}

fn main() {}
