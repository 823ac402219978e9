//! MXFP8 by MXFP4, and the other way round: FP4 comes by tensor maps that pad it, to a ring and to tiles of two columns of boxes, past the end of the tensor too. Some of the rows are compared.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: e4m3[128, 256] list(1, -2, 0.5, 0, 2, -1, 4)
//@ arg b: e2m1x2[12, 128] list(18, 5, 193, 112, 255, 64, 46)
//@ arg s: ue8m0[128, 8] list(127, 128, 126, 129, 127)
//@ arg t: ue8m0[16, 8] list(127, 126, 128)
//@ arg u: e2m1x2[2, 128, 192] list(33, 250, 7, 0, 129, 84, 99, 18, 60)
//@ arg v: e5m2[16, 256] list(2, 1, 0, -1, 3)
//@ arg c: f32[64, 16] poison
//@ arg w: f32[32, 16] poison
//@ expect c: sum(k, 0, 256, a(i, k) * (if j < 12 { e2m1(b(min(j, 11), k / 2), k % 2) } else { 0.0 }) * ue8m0(s(i, k / 32)) * ue8m0(t(j, k / 32)))
//@ expect w: sum(k, 0, 256, e2m1(u(1, i, 64 + k / 2), k % 2) * v(j, k) * ue8m0(s(i, k / 32)) * ue8m0(t(j, k / 32)))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn scaled_float8_by_float4(
    a: Tensor<e4m3, 2>,
    #[block(16, 64)] b: TensorMap<e2m1x2, 2>,
    s: Tensor<ue8m0, 2>,
    t: Tensor<ue8m0, 2>,
    #[block(1, 128, 128)] u: TensorMap<e2m1x2, 3>,
    v: Tensor<e5m2, 2>,
    c: TensorMut<f32, 2>,
    w: TensorMut<f32, 2>,
) {
    let (left, right) = (shared::<e4m3>([2, 128, 128]), shared::<e2m1x2>([2, 16, 64]));
    let (fours, wide) = (shared::<e2m1x2>([128, 128]), shared::<e5m2>([16, 256]));
    let (left_scales, right_scales) = (tmem::<ue8m0>([128, 8]), tmem::<ue8m0>([16, 8]));
    let (acc, other) = (tmem::<f32>([128, 16]), tmem::<f32>([128, 16]));
    let (filled, done) = (barriers(3, 1), barrier(1));
    for i in 0..2 {
        filled[i].expect(b.block_bytes());
        tma::load(b, [0, i * 64], filled[i], right[i]);
    }
    filled[2].expect(u.block_bytes());
    tma::load(u, [1, 0, 64], filled[2], fours);
    for i in 0..2 {
        left[i].store(a.tile([0, i * 128], [128, 128]).load());
    }
    wide.store(v.tile([0, 0], [16, 256]).load());
    left_scales.store(s.tile([0, 0], [128, 8]).load());
    right_scales.store(t.tile([0, 0], [16, 8]).load());
    filled[2].wait(0);
    tcgen05::mma_scaled(fours, wide.t(), other, left_scales, right_scales).accumulate(false);
    for i in unroll(0..2) {
        let scales = left_scales.tile([0, i * 4], [128, 4]);
        let of_right = right_scales.tile([0, i * 4], [16, 4]);
        filled[i].wait(0);
        tcgen05::mma_scaled(left[i], right[i].t(), acc, scales, of_right).accumulate(i > 0);
    }
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [128, 16]).store(acc.load());
    w.tile([0, 0], [128, 16]).store(other.load());
}
