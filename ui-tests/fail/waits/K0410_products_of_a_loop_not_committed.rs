use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn matmul(#[block(128, 64)] a: TensorMap<bf16, 2>, #[block(64, 128)] b: TensorMap<bf16, 2>, c: TensorMut<f32, 2>) {
    let (sa, sb) = (shared::<bf16>([128, 64]), shared::<bf16>([64, 128]));
    let acc = tmem::<f32>([128, 128]);
    let full = barrier(1);
    acc.store(zeros::<f32>([128, 128]));
    for k in range(0, 4, 1) {
        full.expect(a.block_bytes() + b.block_bytes());
        tma::load(a, [0, k * 64], full, sa);
        tma::load(b, [k * 64, 0], full, sb);
        full.wait(k % 2);
        tcgen05::mma(sa, sb, acc);
    }
    c.tile([0, 0], [128, 128]).store(acc.load());
}

fn main() {}
