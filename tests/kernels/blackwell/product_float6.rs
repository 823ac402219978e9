//! FP6 by FP8, by the other FP6 format and by FP4, on either side: TMA pads the numbers on the way, past the end of the tensor too.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: e2m3x16[64, 16] bits
//@ arg d: e2m3x16[64, 16] bits
//@ arg b: e4m3[16, 256] list(1, -2, 0.5, 0, 2, -1, 4)
//@ arg u: e3m2x16[12, 16] bits
//@ arg v: e2m1x2[64, 128] list(33, 250, 7, 0, 129, 84, 99, 18, 60)
//@ arg c: f32[64, 16] poison
//@ arg w: f32[64, 16] poison
//@ arg z: f32[64, 16] poison
//@ expect c: sum(k, 0, 256, e2m3(a(i, k / 16), k % 16) * b(j, k))
//@ expect w: sum(k, 0, 256, (if j < 12 { e3m2(u(min(j, 11), k / 16), k % 16) } else { 0.0 }) * e2m3(d(i, k / 16), k % 16))
//@ expect z: sum(k, 0, 256, (if j < 12 { e3m2(u(min(j, 11), k / 16), k % 16) } else { 0.0 }) * e2m1(v(i, k / 2), k % 2))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn product_float6(
    #[block(64, 16)] a: TensorMap<e2m3x16, 2>,
    #[block(64, 8)] d: TensorMap<e2m3x16, 2>,
    b: Tensor<e4m3, 2>,
    #[block(16, 8)] u: TensorMap<e3m2x16, 2>,
    v: Tensor<e2m1x2, 2>,
    c: TensorMut<f32, 2>,
    w: TensorMut<f32, 2>,
    z: TensorMut<f32, 2>,
) {
    let (wide, left) = (shared::<e2m3x16>([64, 16]), shared::<e2m3x16>([2, 64, 8]));
    let right = shared::<e3m2x16>([2, 16, 8]);
    let (bytes, fours) = (shared::<e4m3>([16, 256]), shared::<e2m1x2>([2, 64, 64]));
    let (acc, other, last) = (tmem::<f32>([64, 16]), tmem::<f32>([64, 16]), tmem::<f32>([64, 16]));
    let (filled, done) = (barriers(3, 1), barrier(1));
    for i in 0..2 {
        filled[i].expect(d.block_bytes() + u.block_bytes());
        tma::load(d, [0, i * 8], filled[i], left[i]);
        tma::load(u, [0, i * 8], filled[i], right[i]);
    }
    filled[2].expect(wide.bytes());
    tma::load(a, [0, 0], filled[2], wide);
    bytes.store(b.tile([0, 0], [16, 256]).load());
    for i in 0..2 {
        fours[i].store(v.tile([0, i * 64], [64, 64]).load());
    }
    filled[2].wait(0);
    tcgen05::mma(wide, bytes.t(), acc).accumulate(false);
    for i in 0..2 {
        filled[i].wait(0);
        tcgen05::mma(left[i], right[i].t(), other).accumulate(i > 0);
        tcgen05::mma(fours[i], right[i].t(), last).accumulate(i > 0);
    }
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [64, 16]).store(acc.load());
    w.tile([0, 0], [64, 16]).store(other.load());
    z.tile([0, 0], [64, 16]).store(last.load());
}
