use kiln::prelude::*;

const STAGES: i32 = 8;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn products(#[block(64, 64)] a: TensorMap<bf16, 2>, #[block(64, 256)] b: TensorMap<bf16, 2>, c: TensorMut<f32, 2>) {
    let a_bufs = shared::<bf16>([STAGES, 64, 64]);
    let b_bufs = shared::<bf16>([STAGES, 64, 256]);
    let full = barriers(STAGES, 1);
    let mut acc = zeros::<f32>([64, 256]);
    for i in 0..cdiv(a.dim(1), 64) {
        let slot = i % STAGES;
        full[slot].expect(a.block_bytes() + b.block_bytes());
        tma::load(a, [0, i * 64], full[slot], a_bufs[slot]);
        tma::load(b, [i * 64, 0], full[slot], b_bufs[slot]);
        full[slot].wait(i / STAGES % 2);
        acc = wgmma::mma(a_bufs[slot], b_bufs[slot], acc);
        acc = wgmma::wait(0, acc);
    }
    c.tile([0, 0], [64, 256]).store(acc);
}

fn main() {}
