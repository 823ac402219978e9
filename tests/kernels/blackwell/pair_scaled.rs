//! MXFP8 by pairs of blocks: each block has the scales of its own rows, and those of all columns. The scales of rows are copied from shared memory,
//! those of 128 columns too and those of 32 columns stored; then FP8 by padded FP4. Each block's own differ from those of the other one.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: e4m3[256, 256] list(1, -2, 0.5, 0, 2, -1, 4)
//@ arg b: e5m2[N, 256] list(2, 1, 0, -1, 3)
//@ arg f: e2m1x2[N, 128] list(18, 5, 193, 112, 255, 64, 46)
//@ arg s: ue8m0[256, 8] list(127, 128, 126, 129, 127)
//@ arg t: ue8m0[N, 8] list(127, 126, 128)
//@ arg c: f32[256, N] poison
//@ arg d: f32[256, N] poison
//@ expect c: sum(k, 0, 256, a(i, k) * b(j, k) * ue8m0(s(i, k / 32)) * ue8m0(t(j, k / 32)))
//@ expect d: 2 * sum(k, 0, 256, a(i, k) * e2m1(f(j, k / 2), k % 2) * ue8m0(s(i, k / 32)) * ue8m0(t(j, k / 32)))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, cluster = 2, grid = 2,
         instances((N, COPIED) = [(32, false), (128, true)]))]
pub fn pair_scaled<const N: i32, const COPIED: bool>(
    a: Tensor<e4m3, 2>,
    b: Tensor<e5m2, 2>,
    f: Tensor<e2m1x2, 2>,
    s: Tensor<ue8m0, 2>,
    t: Tensor<ue8m0, 2>,
    c: TensorMut<f32, 2>,
    d: TensorMut<f32, 2>,
) {
    let rank = cluster::rank();
    let (row, column) = (rank * 128, rank * (N / 2));
    let (left, right) = (shared::<e4m3>([128, 256]), shared::<e5m2>([N / 2, 256]));
    let fours = shared::<e2m1x2>([N / 2, 128]);
    let of_left = shared::<ue8m0>([128, 8]);
    let (left_scales, right_scales) = (tmem::<ue8m0>([128, 8]), tmem::<ue8m0>([N, 8]));
    let (acc, more) = (tmem::<f32>([128, N]), tmem::<f32>([128, N]));
    let done = barrier(1);
    left.store(a.tile([row, 0], [128, 256]).load());
    right.store(b.tile([column, 0], [N / 2, 256]).load());
    fours.store(f.tile([column, 0], [N / 2, 128]).load());
    of_left.store(s.tile([row, 0], [128, 8]).load());
    if COPIED {
        let of_right = shared::<ue8m0>([N, 8]);
        of_right.store(t.tile([0, 0], [N, 8]).load());
        cluster::sync();
        tcgen05::copy(of_right, right_scales);
    } else {
        right_scales.store(t.tile([0, 0], [N, 8]).load());
        cluster::sync();
    }
    tcgen05::copy(of_left, left_scales);
    tcgen05::mma_scaled_pair(left, right.t(), acc, left_scales, right_scales).accumulate(false);
    for i in 0..2 {
        tcgen05::mma_scaled_pair(left, fours.t(), more, left_scales, right_scales).accumulate(i > 0);
    }
    tcgen05::commit(done).multicast(0b11);
    done.wait(0);
    c.tile([row, 0], [128, N]).store(acc.load());
    d.tile([row, 0], [128, N]).store(more.load());
}
