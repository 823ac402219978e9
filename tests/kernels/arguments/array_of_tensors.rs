//! Tensors of an array, of different shapes and strides: each is read within its own bounds, and two of an array are written.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ instance: N = 3
//@ arg xs[0]: f32[37] list(1, -2, 0.5, 3, nan, -4, inf, 0, -0.25)
//@ arg xs[1]: f32[64] iota(-3.0, 0.5) strides(2) offset(1)
//@ arg xs[2]: f32[5] iota(100.0, 1.0)
//@ arg n: i32 scalar 2
//@ arg outs[0]: f32[50] poison
//@ arg outs[1]: f32[64] poison
//@ expect outs[0]: (if i < 37 { xs[0](i) } else { 0.0 }) + xs[1](i) + if i < 5 { xs[2](i) } else { 0.0 }
//@ expect outs[1]: (if i < 5 { xs[2](i) } else { 0.0 }) * 3.0
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1, instances(N = [3]))]
pub fn array_of_tensors<const N: usize>(
    xs: [Tensor<f32, 1>; N],
    n: i32,
    outs: [TensorMut<f32, 1>; 2],
) {
    let mut sum = zeros::<f32>([64]);
    for x in xs {
        sum += x.tile([0], [64]).load();
    }
    outs[0].tile([0], [64]).store(sum);
    // The tensor that a number at run time names.
    for i in unroll(0..N as i32) {
        if i == n {
            outs[1].tile([0], [64]).store(xs[i as usize].tile([0], [64]).load() * (xs.len() as f32));
        }
    }
}
