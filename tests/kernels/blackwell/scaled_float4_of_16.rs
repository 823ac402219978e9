//! FP4 with powers of two for 16 numbers.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: e2m1x2[128, 64] list(33, 250, 7, 0, 129, 84, 99, 18, 60)
//@ arg b: e2m1x2[16, 64] list(18, 5, 193, 112, 255, 64, 46)
//@ arg s: ue8m0[128, 8] list(127, 128, 126, 129, 127)
//@ arg t: ue8m0[16, 8] list(127, 126, 128)
//@ arg c: f32[128, 16] poison
//@ expect c: sum(k, 0, 64, (e2m1(a(i, k), 0) * e2m1(b(j, k), 0) + e2m1(a(i, k), 1) * e2m1(b(j, k), 1)) * ue8m0(s(i, k / 8)) * ue8m0(t(j, k / 8)))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn scaled_float4_of_16(
    a: Tensor<e2m1x2, 2>,
    b: Tensor<e2m1x2, 2>,
    s: Tensor<ue8m0, 2>,
    t: Tensor<ue8m0, 2>,
    c: TensorMut<f32, 2>,
) {
    let (left, right) = (shared::<e2m1x2>([128, 64]), shared::<e2m1x2>([16, 64]));
    let (left_scales, right_scales) = (tmem::<ue8m0>([128, 8]), tmem::<ue8m0>([16, 8]));
    let of_left = shared::<ue8m0>([128, 8]);
    let acc = tmem::<f32>([128, 16]);
    let done = barrier(1);
    left.store(a.tile([0, 0], [128, 64]).load());
    right.store(b.tile([0, 0], [16, 64]).load());
    of_left.store(s.tile([0, 0], [128, 8]).load());
    right_scales.store(t.tile([0, 0], [16, 8]).load());
    tcgen05::copy(of_left, left_scales);
    tcgen05::mma_scaled(left, right.t(), acc, left_scales, right_scales).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [128, 16]).store(acc.load());
}
