//! MXFP6: FP6 by FP6 and FP4 by FP6, powers of two for each 32 numbers, in a ring that TMA fills and in a tile of two columns of boxes.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: e3m2x16[128, 16] bits
//@ arg b: e2m3x16[16, 24] bits
//@ arg d: e2m3x16[16, 24] bits
//@ arg u: e2m1x2[2, 128, 192] list(33, 250, 7, 0, 129, 84, 99, 18, 60)
//@ arg s: ue8m0[128, 8] list(127, 128, 126, 129, 127)
//@ arg t: ue8m0[16, 8] list(127, 126, 128)
//@ arg c: f32[32, 16] poison
//@ arg w: f32[32, 16] poison
//@ expect c: sum(k, 0, 256, e3m2(a(i, k / 16), k % 16) * e2m3(b(j, 8 + k / 16), k % 16) * ue8m0(s(i, k / 32)) * ue8m0(t(j, k / 32)))
//@ expect w: sum(k, 0, 256, e2m1(u(1, i, 64 + k / 2), k % 2) * e2m3(d(j, 8 + k / 16), k % 16) * ue8m0(s(i, k / 32)) * ue8m0(t(j, k / 32)))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn scaled_float6(
    #[block(128, 8)] a: TensorMap<e3m2x16, 2>,
    #[block(16, 8)] b: TensorMap<e2m3x16, 2>,
    #[block(16, 16, swizzle = 128)] d: TensorMap<e2m3x16, 2>,
    #[block(1, 128, 128)] u: TensorMap<e2m1x2, 3>,
    s: Tensor<ue8m0, 2>,
    t: Tensor<ue8m0, 2>,
    c: TensorMut<f32, 2>,
    w: TensorMut<f32, 2>,
) {
    let (left, right) = (shared::<e3m2x16>([2, 128, 8]), shared::<e2m3x16>([2, 16, 8]));
    let wide = shared::<e2m3x16>([16, 16]);
    let fours = shared::<e2m1x2>([128, 128]);
    let (left_scales, right_scales) = (tmem::<ue8m0>([128, 8]), tmem::<ue8m0>([16, 8]));
    let (acc, other) = (tmem::<f32>([128, 16]), tmem::<f32>([128, 16]));
    let (filled, done) = (barriers(3, 1), barrier(1));
    for i in 0..2 {
        filled[i].expect(a.block_bytes() + b.block_bytes());
        tma::load(a, [0, i * 8], filled[i], left[i]);
        tma::load(b, [0, 8 + i * 8], filled[i], right[i]);
    }
    filled[2].expect(d.block_bytes() + u.block_bytes());
    tma::load(d, [0, 8], filled[2], wide);
    tma::load(u, [1, 0, 64], filled[2], fours);
    left_scales.store(s.tile([0, 0], [128, 8]).load());
    right_scales.store(t.tile([0, 0], [16, 8]).load());
    filled[2].wait(0);
    tcgen05::mma_scaled(fours, wide.t(), other, left_scales, right_scales).accumulate(false);
    for i in unroll(0..2) {
        let scales = left_scales.tile([0, i * 4], [128, 4]);
        let of_right = right_scales.tile([0, i * 4], [16, 4]);
        filled[i].wait(0);
        tcgen05::mma_scaled(left[i], right[i].t(), acc, scales, of_right)
            .accumulate(i > 0);
    }
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [128, 16]).store(acc.load());
    w.tile([0, 0], [128, 16]).store(other.load());
}
