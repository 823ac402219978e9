//! The bytes of two copies on one barrier, and of one on each barrier of a ring, counted by the compiler.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[64, 64] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4)
//@ arg b: f32[16, 64] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4)
//@ arg c: f16[64, 64] poison
//@ arg d: f32[16, 64] poison
//@ expect c: a(i, j)
//@ expect d: if i < 16 { b(i, j) } else { 0 }
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 1, grid = 1)]
pub fn expect_copies(
    #[block(16, 64)] a: TensorMap<f16, 2>,
    #[block(16, 64)] b: TensorMap<f32, 2>,
    c: TensorMut<f16, 2>,
    d: TensorMut<f32, 2>,
) {
    let (ring, wide) = (shared::<f16>([2, 16, 64]), shared::<f32>([16, 64]));
    let full = barriers(2, 1);
    full[0].expect_copies();
    tma::load(a, [0, 0], full[0], ring[0]);
    full[1].expect_copies();
    tma::load(a, [16, 0], full[1], ring[1]);
    tma::load(b, [0, 0], full[1], wide);
    full[1].wait(0);
    d.tile([0, 0], [16, 64]).store(wide.load());
    for step in 0..4 {
        let (slot, phase) = (step % 2, step / 2);
        if step != 1 {
            full[slot].wait(phase);
        }
        c.tile([step * 16, 0], [16, 64]).store(ring[slot].load());
        sync();
        if step < 2 {
            full[slot].expect_copies();
            tma::load(a, [step * 16 + 32, 0], full[slot], ring[slot]);
        }
    }
}
