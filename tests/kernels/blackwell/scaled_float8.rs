//! MXFP8: 128 rows by 128 columns, of which 32 are compared, whose scales are copied from shared memory, and 256 by 16, whose scales registers hold; 128 of the
//! depth; then added to, of one format times the other.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: e4m3[256, 128] list(1, -2, 0.5, 0, 2, -1, 4)
//@ arg b: e4m3[128, 128] list(2, 1, 0, -1, 3)
//@ arg s: ue8m0[256, 4] list(127, 128, 126, 129, 127)
//@ arg t: ue8m0[128, 4] list(127, 126, 128)
//@ arg c: f32[128, 32] poison
//@ arg d: f32[256, 16] poison
//@ expect c: 2 * sum(k, 0, 128, a(i, k) * b(j, k) * ue8m0(s(i, k / 32)) * ue8m0(t(j, k / 32)))
//@ expect d: sum(k, 0, 128, a(i, k) * b(j, k) * ue8m0(s(i, k / 32)) * ue8m0(t(j, k / 32)))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 8, grid = 1)]
pub fn scaled_float8(
    a: Tensor<e4m3, 2>,
    b: Tensor<e4m3, 2>,
    s: Tensor<ue8m0, 2>,
    t: Tensor<ue8m0, 2>,
    c: TensorMut<f32, 2>,
    d: TensorMut<f32, 2>,
) {
    let (left, right) = (shared::<e4m3>([256, 128]), shared::<e4m3>([16, 128]));
    let (upper, wide) = (shared::<e4m3>([128, 128]), shared::<e5m2>([128, 128]));
    let (of_left, of_right) = (shared::<ue8m0>([128, 4]), shared::<ue8m0>([128, 4]));
    let (left_scales, right_scales) = (tmem::<ue8m0>([128, 4]), tmem::<ue8m0>([128, 4]));
    let (tall_scales, narrow_scales) = (tmem::<ue8m0>([256, 4]), tmem::<ue8m0>([16, 4]));
    let acc = tmem::<f32>([128, 128]);
    let tall = tmem::<f32>([256, 16]);
    let done = barrier(1);
    left.store(a.tile([0, 0], [256, 128]).load());
    right.store(b.tile([0, 0], [16, 128]).load());
    upper.store(a.tile([0, 0], [128, 128]).load());
    wide.store(b.tile([0, 0], [128, 128]).load().cast());
    of_left.store(s.tile([0, 0], [128, 4]).load());
    of_right.store(t.tile([0, 0], [128, 4]).load());
    tall_scales.store(s.tile([0, 0], [256, 4]).load());
    narrow_scales.store(t.tile([0, 0], [16, 4]).load());
    tcgen05::copy(of_left, left_scales);
    tcgen05::copy(of_right, right_scales);
    for i in 0..2 {
        tcgen05::mma_scaled(upper, wide.t(), acc, left_scales, right_scales).accumulate(i > 0);
    }
    tcgen05::mma_scaled(left, right.t(), tall, tall_scales, narrow_scales).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [128, 128]).store(acc.load());
    d.tile([0, 0], [256, 16]).store(tall.load());
}
