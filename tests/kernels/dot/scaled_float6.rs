//! MXFP6 on tensor cores that read registers, from a ring that TMA fills: powers of two for each 32 numbers.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: e2m3x16[16, 16] bits
//@ arg u: e3m2x16[16, 16] bits
//@ arg s: ue8m0[16, 8] list(127, 126, 128, 129, 125)
//@ arg t: ue8m0[16, 8] list(128, 127, 125, 130, 126, 124, 129)
//@ arg c: f32[16, 16] poison
//@ expect c: sum(k, 0, 256, e2m3(a(i, k / 16), k % 16) * e3m2(u(j, k / 16), k % 16) * ue8m0(s(i, k / 32)) * ue8m0(t(j, k / 32)))
use kiln::prelude::*;

#[kernel(target = sm_120a, warps = 2, grid = 1)]
pub fn scaled_float6(
    #[block(16, 8)] a: TensorMap<e2m3x16, 2>,
    #[block(16, 8)] u: TensorMap<e3m2x16, 2>,
    s: Tensor<ue8m0, 2>,
    t: Tensor<ue8m0, 2>,
    c: TensorMut<f32, 2>,
) {
    let (left, right) = (shared::<e2m3x16>([2, 16, 8]), shared::<e3m2x16>([2, 16, 8]));
    let filled = barriers(2, 1);
    for i in 0..2 {
        filled[i].expect(a.block_bytes() + u.block_bytes());
        tma::load(a, [0, i * 8], filled[i], left[i]);
        tma::load(u, [0, i * 8], filled[i], right[i]);
    }
    let mut acc = zeros::<f32>([16, 16]);
    for i in 0..2 {
        filled[i].wait(0);
        let of_left = s.tile([0, i * 4], [16, 4]).load();
        let of_right = t.tile([0, i * 4], [16, 4]).load();
        acc = dot_scaled(left[i], right[i].t(), acc, of_left, of_right);
    }
    c.tile([0, 0], [16, 16]).store(acc);
}
