use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn wrong(#[block(64, 64)] a: TensorMap<bf16, 2>, #[block(64, 64)] b: TensorMap<bf16, 2>, c: TensorMut<f32, 2>) {
    let (sa, sb) = (shared::<bf16>([64, 64]), shared::<bf16>([64, 64]));
    let bar = barrier(1);
    bar.expect(a.block_bytes() + b.block_bytes());
    tma::load(a, [0, 0], bar, sa);
    tma::load(b, [0, 0], bar, sb);
    bar.wait(0);
    let acc = wgmma::mma(sa, sb, zeros::<f32>([64, 64]));
    wgmma::commit();
    let acc = wgmma::wait(0, acc);
    c.tile([0, 0], [64, 64]).store(acc);
}

fn main() {}
