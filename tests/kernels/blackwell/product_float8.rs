//! Products of FP8, one format with the other, with either index of A and B contiguous in shared memory.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: e4m3[128, 128] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg at: e4m3[128, 128] list(2, 1, -1, 0, 3, -2, 1)
//@ arg b: e5m2[64, 128] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg bt: e5m2[128, 64] list(1, 0, -1, 2, 4)
//@ arg c: f32[128, 64] poison
//@ arg d: f32[128, 64] poison
//@ expect c: sum(n, 0, 128, a(i, n) * b(j, n))
//@ expect d: sum(n, 0, 128, at(n, i) * bt(n, j))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn product_float8(
    #[block(128, 128)] a: TensorMap<e4m3, 2>,
    #[block(128, 128)] at: TensorMap<e4m3, 2>,
    #[block(64, 128)] b: TensorMap<e5m2, 2>,
    #[block(128, 64)] bt: TensorMap<e5m2, 2>,
    c: TensorMut<f32, 2>,
    d: TensorMut<f32, 2>,
) {
    let (sa, sat) = (shared::<e4m3>([128, 128]), shared::<e4m3>([128, 128]));
    let (sb, sbt) = (shared::<e5m2>([64, 128]), shared::<e5m2>([128, 64]));
    let accs = tmem::<f32>([2, 128, 64]);
    let (full, done) = (barrier(1), barrier(1));
    full.expect(a.block_bytes() + at.block_bytes() + b.block_bytes() + bt.block_bytes());
    tma::load(a, [0, 0], full, sa);
    tma::load(at, [0, 0], full, sat);
    tma::load(b, [0, 0], full, sb);
    tma::load(bt, [0, 0], full, sbt);
    full.wait(0);
    tcgen05::mma(sa, sb.t(), accs[0]).accumulate(false);
    tcgen05::mma(sat.t(), sbt, accs[1]).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [128, 64]).store(accs[0].load());
    d.tile([0, 0], [128, 64]).store(accs[1].load());
}
