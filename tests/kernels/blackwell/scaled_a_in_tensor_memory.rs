//! Block-scaled products with A in tensor memory: of FP8, of two blocks of rows and columns, and of FP4 with scales for 16 numbers.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: e2m1x2[128, 64] list(33, 250, 7, 0, 129, 84, 99, 18, 60)
//@ arg b: e2m1x2[16, 64] list(18, 5, 193, 112, 255, 64, 46)
//@ arg s: ue8m0[128, 8] list(127, 128, 126, 129, 127)
//@ arg t: ue8m0[16, 8] list(127, 126, 128)
//@ arg u: e4m3[256, 128] list(1, -2, 0.5, 0, 2, -1, 4)
//@ arg v: e5m2[16, 128] list(2, 1, 0, -1, 3)
//@ arg of_u: ue8m0[256, 4] list(127, 128, 126, 129, 127)
//@ arg of_v: ue8m0[16, 4] list(127, 126, 128)
//@ arg c: f32[128, 16] poison
//@ arg w: f32[256, 16] poison
//@ expect c: sum(k, 0, 64, (e2m1(a(i, k), 0) * e2m1(b(j, k), 0) + e2m1(a(i, k), 1) * e2m1(b(j, k), 1)) * ue8m0(s(i, k / 8)) * ue8m0(t(j, k / 8)))
//@ expect w: sum(k, 0, 128, u(i, k) * v(j, k) * ue8m0(of_u(i, k / 32)) * ue8m0(of_v(j, k / 32)))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn scaled_a_in_tensor_memory(
    a: Tensor<e2m1x2, 2>,
    b: Tensor<e2m1x2, 2>,
    s: Tensor<ue8m0, 2>,
    t: Tensor<ue8m0, 2>,
    u: Tensor<e4m3, 2>,
    v: Tensor<e5m2, 2>,
    of_u: Tensor<ue8m0, 2>,
    of_v: Tensor<ue8m0, 2>,
    c: TensorMut<f32, 2>,
    w: TensorMut<f32, 2>,
) {
    let (fours, right) = (tmem::<e2m1x2>([128, 64]), shared::<e2m1x2>([16, 64]));
    let (eights, wide) = (tmem::<e4m3>([256, 128]), shared::<e5m2>([16, 128]));
    let (four_scales, right_scales) = (tmem::<ue8m0>([128, 8]), tmem::<ue8m0>([16, 8]));
    let (eight_scales, wide_scales) = (tmem::<ue8m0>([256, 4]), tmem::<ue8m0>([16, 4]));
    let acc = tmem::<f32>([128, 16]);
    let tall = tmem::<f32>([256, 16]);
    let done = barrier(1);
    fours.store(a.tile([0, 0], [128, 64]).load());
    right.store(b.tile([0, 0], [16, 64]).load());
    four_scales.store(s.tile([0, 0], [128, 8]).load());
    right_scales.store(t.tile([0, 0], [16, 8]).load());
    eights.store(u.tile([0, 0], [256, 128]).load());
    wide.store(v.tile([0, 0], [16, 128]).load());
    eight_scales.store(of_u.tile([0, 0], [256, 4]).load());
    wide_scales.store(of_v.tile([0, 0], [16, 4]).load());
    tcgen05::mma_scaled(fours, right.t(), acc, four_scales, right_scales).accumulate(false);
    tcgen05::mma_scaled(eights, wide.t(), tall, eight_scales, wide_scales).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [128, 16]).store(acc.load());
    w.tile([0, 0], [256, 16]).store(tall.load());
}
