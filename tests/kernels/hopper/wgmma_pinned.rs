//! Accumulators that the user pinned to layouts of other instructions: they are converted before the product and after the wait, never
//! in flight.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[64, 64] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[64, 64] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f32[64, 64] poison
//@ arg turns: i32 scalar 3
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1, instances(PLACE = [0, 1, 2, 3, 4]))]
pub fn wgmma_pinned<const PLACE: i32>(
    a: Tensor<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f32, 2>,
    turns: i32,
) {
    let (sa, sb) = (shared::<f16>([64, 64]), shared::<f16>([64, 64]));
    sa.store(a.tile([0, 0], [64, 64]).load());
    sb.store(b.tile([0, 0], [64, 64]).load());
    fence_async();
    sync();
    let mut acc = zeros::<f32>([64, 64]);
    if PLACE == 0 {
        acc = acc.to_layout(mma([2, 2]));
    }
    for turn in 0..turns {
        if PLACE == 1 && turn > 0 {
            acc = acc.to_layout(blocked([1, 4], [8, 4], [4, 1], [1, 0]));
        }
        let in_flight = wgmma::mma(sa, sb, acc);
        if PLACE == 2 {
            acc = if turn > 1 { wgmma::wait(0, in_flight) } else { wgmma::wait(0, in_flight) + 1.0 };
        } else {
            acc = wgmma::wait(0, in_flight);
        }
        if PLACE == 3 {
            acc = acc.to_layout(mma([1, 4]));
        }
    }
    if PLACE == 4 {
        acc = acc + full([64, 64], 0.5).to_layout(mma([4, 1]));
    }
    c.tile([0, 0], [64, 64]).store(acc);
}
