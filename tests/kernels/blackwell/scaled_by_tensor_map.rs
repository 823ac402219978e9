//! Scales that come by tensor map, in the order in which the copy to tensor memory reads them: byte `(m % 32) · 16 + (m / 32) · 4 + j`, as 32 rows of 16 bytes,
//! which are copied for all four warps and then named anew.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: e4m3[128, 128] list(1, -2, 0.5, 0, 2, -1, 4)
//@ arg b: e4m3[32, 128] list(2, 1, 0, -1, 3)
//@ arg s: ue8m0[32, 16] list(127, 128, 126, 129, 127)
//@ arg t: ue8m0[32, 4] list(127, 126, 128)
//@ arg c: f32[128, 32] poison
//@ expect c: sum(k, 0, 128, a(i, k) * b(j, k) * ue8m0(s(i % 32, i / 32 * 4 + k / 32)) * ue8m0(t(j, k / 32)))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn scaled_by_tensor_map(
    #[block(128, 128)] a: TensorMap<e4m3, 2>,
    #[block(32, 128)] b: TensorMap<e4m3, 2>,
    #[block(32, 16)] s: TensorMap<ue8m0, 2>,
    t: Tensor<ue8m0, 2>,
    c: TensorMut<f32, 2>,
) {
    let (left, right) = (shared::<e4m3>([128, 128]), shared::<e4m3>([32, 128]));
    let of_left = shared::<ue8m0>([32, 16]);
    let packed = tmem::<ue8m0>([32, 16])
        .with_layout(layout!(S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]));
    let (left_scales, right_scales) = (packed.view::<ue8m0>([128, 4]), tmem::<ue8m0>([32, 4]));
    let acc = tmem::<f32>([128, 32]);
    let (full, done) = (barrier(1), barrier(1));
    full.expect_copies();
    tma::load(a, [0, 0], full, left);
    tma::load(b, [0, 0], full, right);
    tma::load(s, [0, 0], full, of_left);
    right_scales.store(t.tile([0, 0], [32, 4]).load());
    full.wait(0);
    tcgen05::copy(of_left, packed);
    tcgen05::mma_scaled(left, right.t(), acc, left_scales, right_scales).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [128, 32]).store(acc.load());
}
