//! A convolution by `tcgen05`: the left operand is under the taps of a filter, at places of two images.
//@ run: eval, emulate
//@ compare: exact
//@ arg x: f16[2, 9, 8, 64] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg w: f16[64, 3, 3, 64] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg y: f32[128, 64] poison
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn convolution(
    #[block(128, 1, 1, 64, filter = [3, 3], padding = [1, 1])] x: TensorMap<f16, 4>,
    #[block(64, 1, 1, 64)] w: TensorMap<f16, 4>,
    y: TensorMut<f32, 2>,
) {
    let (sx, sw) = (shared::<f16>([128, 64]), shared::<f16>([64, 64]));
    let acc = tmem::<f32>([128, 64]);
    let (full, done) = (barrier(1), barrier(1));
    for tap in 0..9 {
        full.expect(x.block_bytes() + w.block_bytes());
        tma::load(x, [20, tap / 3, tap % 3, 0], full, sx);
        tma::load(w, [0, tap / 3, tap % 3, 0], full, sw);
        full.wait(tap & 1);
        tcgen05::mma(sx, sw.t(), acc).accumulate(tap > 0);
        tcgen05::commit(done);
        done.wait(tap & 1);
    }
    y.tile([0, 0], [128, 64]).store(acc.load());
}
