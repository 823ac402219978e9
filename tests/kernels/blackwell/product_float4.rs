//! FP8 by FP4, FP4 by FP8 and FP4 by FP4: the FP4 operands lie padded without being asked for, as threads store them and as they load them again.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: e4m3[64, 128] list(1, -2, 0.5, 0, 2, -1, 4)
//@ arg b: e2m1x2[16, 64] list(18, 5, 193, 112, 255, 64, 46)
//@ arg u: e2m1x2[64, 128] list(33, 250, 7, 0, 129, 84, 99, 18, 60)
//@ arg v: e5m2[8, 256] list(2, 1, 0, -1, 3)
//@ arg c: f32[64, 16] poison
//@ arg w: f16[64, 8] poison
//@ arg z: f32[64, 16] poison
//@ arg again: e2m1x2[16, 64] poison
//@ expect c: sum(k, 0, 128, a(i, k) * e2m1(b(j, k / 2), k % 2))
//@ expect w: sum(k, 0, 256, e2m1(u(i, k / 2), k % 2) * v(j, k))
//@ expect z: sum(k, 0, 128, e2m1(u(i, k / 2), k % 2) * e2m1(b(j, k / 2), k % 2))
//@ expect again: b(i, j)
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn product_float4(
    a: Tensor<e4m3, 2>,
    b: Tensor<e2m1x2, 2>,
    u: Tensor<e2m1x2, 2>,
    v: Tensor<e5m2, 2>,
    c: TensorMut<f32, 2>,
    w: TensorMut<f16, 2>,
    z: TensorMut<f32, 2>,
    again: TensorMut<e2m1x2, 2>,
) {
    let (left, right) = (shared::<e4m3>([64, 128]), shared::<e2m1x2>([16, 64]));
    let (tall, wide) = (shared::<e2m1x2>([64, 128]), shared::<e5m2>([8, 256]));
    let short = shared::<e2m1x2>([64, 64]).with_layout(swizzle(128).fp4_padded());
    let (acc, halves) = (tmem::<f32>([64, 16]), tmem::<f16>([64, 8]));
    let fours = tmem::<f32>([64, 16]);
    let done = barrier(1);
    left.store(a.tile([0, 0], [64, 128]).load());
    right.store(b.tile([0, 0], [16, 64]).load());
    tall.store(u.tile([0, 0], [64, 128]).load());
    wide.store(v.tile([0, 0], [8, 256]).load());
    short.store(u.tile([0, 0], [64, 64]).load());
    tcgen05::mma(left, right.t(), acc).accumulate(false);
    tcgen05::mma(tall, wide.t(), halves).accumulate(false);
    tcgen05::mma(short, right.t(), fours).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [64, 16]).store(acc.load());
    w.tile([0, 0], [64, 8]).store(halves.load());
    z.tile([0, 0], [64, 16]).store(fours.load());
    again.tile([0, 0], [16, 64]).store(right.load());
}
