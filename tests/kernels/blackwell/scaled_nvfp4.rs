//! NVFP4: two numbers to a byte, FP8 scales for 16 of them.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: e2m1x2[128, 64] list(33, 250, 7, 0, 129, 84, 99, 18, 60)
//@ arg b: e2m1x2[16, 64] list(18, 5, 193, 112, 255, 64, 46)
//@ arg s: e4m3[128, 8] list(1, 0.5, 3, 1.5, 2)
//@ arg t: e4m3[16, 8] list(2, 1, 0.25, 3)
//@ arg c: f32[128, 16] poison
//@ expect c: sum(k, 0, 64, (e2m1(a(i, k), 0) * e2m1(b(j, k), 0) + e2m1(a(i, k), 1) * e2m1(b(j, k), 1)) * s(i, k / 8) * t(j, k / 8))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn scaled_nvfp4(
    a: Tensor<e2m1x2, 2>,
    b: Tensor<e2m1x2, 2>,
    s: Tensor<e4m3, 2>,
    t: Tensor<e4m3, 2>,
    c: TensorMut<f32, 2>,
) {
    let (left, right) = (shared::<e2m1x2>([128, 64]), shared::<e2m1x2>([16, 64]));
    let (left_scales, right_scales) = (tmem::<e4m3>([128, 8]), tmem::<e4m3>([16, 8]));
    let of_left = shared::<e4m3>([128, 8]);
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
