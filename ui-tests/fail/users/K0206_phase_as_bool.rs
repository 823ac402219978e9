// CUDA: Column maxima, tile after tile through one TMA buffer. The phase of the barrier is kept as a bool; `wait` takes an i32 parity.
// RIGHT: let mut phase = 0; // arrived.wait(phase); phase ^= 1;
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = cdiv(x.dim(1), 64))]
pub fn column_maxima(#[block(64, 64)] x: TensorMap<f32, 2>, out: TensorMut<f32, 1>) {
    let column = block_id(0) * 64;
    let buf = shared::<f32>([64, 64]);
    let arrived = barrier(1);
    let mut phase = false;
    let mut top = full::<f32>([64], f32::NEG_INFINITY);
    for row in range(0, x.dim(0) / 64 * 64, 64) {
        arrived.expect(x.block_bytes());
        tma::load(x, [row, column], arrived, buf);
        arrived.wait(phase);
        phase = !phase;
        top = maximum(top, buf.load().max(0));
        sync();
    }
    out.tile([column], [64]).store(top);
}

fn main() {}
