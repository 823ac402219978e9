//! Running products, of integers that wrap and of floats that are exact; and a row of NaNs and infinities, which scans pass on.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: u16[4, 64] bits
//@ arg y: f32[4, 64] list(2, 0.5, -1, 1, 4, -0.25)
//@ arg z: f32[2, 8] list(1, inf, 2, -inf, 3, 4, 5, 6, 0, 1, nan, 2, 3, 4, 5, 6)
//@ arg whole: u16[4, 64] poison
//@ arg exact: f32[4, 64] poison
//@ arg sums: f32[2, 8] poison
//@ expect whole: product(n, 0, i + 1, x(n, j)) as u16
//@ expect exact: product(n, 0, j + 1, y(i, n))
//@ expect sums: if i == 0 { if j < 2 { j + 1 } else { if j < 4 { inf } else { nan } } } else { if j < 2 { 1 } else { if j == 2 { 2 } else { nan } } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [1, 4]))]
pub fn products<const W: i32>(
    x: Tensor<u16, 2>,
    y: Tensor<f32, 2>,
    z: Tensor<f32, 2>,
    whole: TensorMut<u16, 2>,
    exact: TensorMut<f32, 2>,
    sums: TensorMut<f32, 2>,
) {
    whole.tile([0, 0], [4, 64]).store(x.tile([0, 0], [4, 64]).load().cumprod(0));
    exact.tile([0, 0], [4, 64]).store(y.tile([0, 0], [4, 64]).load().cumprod(-1));
    let z = z.tile([0, 0], [2, 8]).load();
    sums.tile([0, 0], [2, 8]).store(z.scan_exclusive(1, 1.0, |a, b| a + b));
}
