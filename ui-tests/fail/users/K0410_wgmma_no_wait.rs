use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = cdiv(c.dim(0), 64))]
pub fn wrong(#[block(64, 64)] a: TensorMap<bf16, 2>, #[block(64, 64)] b: TensorMap<bf16, 2>, c: TensorMut<f32, 2>) {
    let (sa, sb) = (shared::<bf16>([64, 64]), shared::<bf16>([64, 64]));
    let bar = barriers(1, 1);
    bar[0].expect(a.block_bytes() + b.block_bytes());
    tma::load(a, [block_id(0) * 64, 0], bar[0], sa);
    tma::load(b, [0, 0], bar[0], sb);
    bar[0].wait(0);
    let acc = wgmma::mma(sa, sb, zeros::<f32>([64, 64]));
    c.tile([block_id(0) * 64, 0], [64, 64]).store(acc);
}

fn main() {}
