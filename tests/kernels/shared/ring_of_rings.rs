//! Two leading axes.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f16[6, 16, 16] bits
//@ arg out: f16[6, 16, 16] poison
//@ expect out: x(5 - i, k, j)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
pub fn ring_of_rings(x: Tensor<f16, 3>, out: TensorMut<f16, 3>) {
    let bufs = shared::<f16>([2, 3, 16, 16]);
    for n in 0..6 {
        bufs[n / 3][n % 3].store(x.tile([n, 0, 0], [1, 16, 16]).load().reshape([16, 16]));
    }
    sync();
    for n in 0..6 {
        let m = 5 - n;
        out.tile([n, 0, 0], [1, 16, 16]).store(bufs[m / 3][m % 3].t().load().expand(0));
    }
}
