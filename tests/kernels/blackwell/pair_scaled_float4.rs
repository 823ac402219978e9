//! MXFP4, NVFP4 and FP4 with powers of two for each sixteen numbers, by pairs of blocks; the left operand in shared memory and, of NVFP4, in tensor
//! memory as well.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: e2m1x2[256, 64] list(33, 250, 7, 0, 129, 84, 99, 18, 60)
//@ arg b: e2m1x2[64, 64] list(18, 5, 193, 112, 255, 64, 46)
//@ arg s: ue8m0[256, 4] list(127, 128, 126, 129, 127)
//@ arg t: ue8m0[64, 4] list(127, 126, 128)
//@ arg p: e4m3[256, 8] list(1, 0.5, 1.5, 2, 1.5)
//@ arg q: e4m3[64, 8] list(1, 2, 0.5)
//@ arg x: ue8m0[256, 8] list(126, 127, 127, 129, 128)
//@ arg y: ue8m0[64, 8] list(128, 127, 125)
//@ arg c: f32[256, 64] poison
//@ arg d: f32[256, 64] poison
//@ arg e: f32[256, 64] poison
//@ expect c: sum(k, 0, 128, e2m1(a(i, k / 2), k % 2) * e2m1(b(j, k / 2), k % 2) * ue8m0(s(i, k / 32)) * ue8m0(t(j, k / 32)))
//@ expect d: 2 * sum(k, 0, 128, e2m1(a(i, k / 2), k % 2) * e2m1(b(j, k / 2), k % 2) * p(i, k / 16) * q(j, k / 16))
//@ expect e: sum(k, 0, 128, e2m1(a(i, k / 2), k % 2) * e2m1(b(j, k / 2), k % 2) * ue8m0(x(i, k / 16)) * ue8m0(y(j, k / 16)))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, cluster = 2, grid = 2)]
pub fn pair_scaled_float4(
    a: Tensor<e2m1x2, 2>,
    b: Tensor<e2m1x2, 2>,
    s: Tensor<ue8m0, 2>,
    t: Tensor<ue8m0, 2>,
    p: Tensor<e4m3, 2>,
    q: Tensor<e4m3, 2>,
    x: Tensor<ue8m0, 2>,
    y: Tensor<ue8m0, 2>,
    c: TensorMut<f32, 2>,
    d: TensorMut<f32, 2>,
    e: TensorMut<f32, 2>,
) {
    let rank = cluster::rank();
    let row = rank * 128;
    let (left, right) = (shared::<e2m1x2>([128, 64]), shared::<e2m1x2>([32, 64]));
    let held = tmem::<e2m1x2>([128, 64]);
    let (of_left, of_right) = (tmem::<ue8m0>([128, 4]), tmem::<ue8m0>([64, 4]));
    let (for_left, for_right) = (tmem::<e4m3>([128, 8]), tmem::<e4m3>([64, 8]));
    let (by_left, by_right) = (tmem::<ue8m0>([128, 8]), tmem::<ue8m0>([64, 8]));
    let (first, second, third) =
        (tmem::<f32>([128, 64]), tmem::<f32>([128, 64]), tmem::<f32>([128, 64]));
    let done = barrier(1);
    let rows = a.tile([row, 0], [128, 64]).load();
    left.store(rows);
    held.store(rows);
    right.store(b.tile([rank * 32, 0], [32, 64]).load());
    of_left.store(s.tile([row, 0], [128, 4]).load());
    of_right.store(t.tile([0, 0], [64, 4]).load());
    for_left.store(p.tile([row, 0], [128, 8]).load());
    for_right.store(q.tile([0, 0], [64, 8]).load());
    by_left.store(x.tile([row, 0], [128, 8]).load());
    by_right.store(y.tile([0, 0], [64, 8]).load());
    cluster::sync();
    tcgen05::mma_scaled_pair(left, right.t(), first, of_left, of_right).accumulate(false);
    tcgen05::mma_scaled_pair(left, right.t(), second, for_left, for_right).accumulate(false);
    tcgen05::mma_scaled_pair(held, right.t(), second, for_left, for_right);
    tcgen05::mma_scaled_pair(left, right.t(), third, by_left, by_right).accumulate(false);
    tcgen05::commit(done).multicast(0b11);
    done.wait(0);
    c.tile([row, 0], [128, 64]).store(first.load());
    d.tile([row, 0], [128, 64]).store(second.load());
    e.tile([row, 0], [128, 64]).store(third.load());
}
