//! Of an `f32` in shared memory a product takes the upper 19 bits; A from registers is rounded to those.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f32[64, 8] list(1.00048828125, -1.00048828125, 3, 1.0009765625, 1.000732421875, 0.5, -2.0001220703125)
//@ arg b: f32[8, 8] list(1, 0, 0, 0, 0, 0, 0, 0, 0)
//@ arg c: f32[64, 8] poison
//@ arg d: f32[64, 8] poison
//@ expect c: if a(i, j) == -2.0001220703125 { -2 } else { if a(i, j) == 1.00048828125 { 1 } else { if a(i, j) == -1.00048828125 { -1 } else { if a(i, j) == 1.000732421875 { 1 } else { a(i, j) } } } }
//@ expect d: if a(i, j) == -2.0001220703125 { -2 } else { if a(i, j) == 1.00048828125 { 1.0009765625 } else { if a(i, j) == -1.00048828125 { -1.0009765625 } else { if a(i, j) == 1.000732421875 { 1.0009765625 } else { a(i, j) } } } }
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn wgmma_tf32(
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    c: TensorMut<f32, 2>,
    d: TensorMut<f32, 2>,
) {
    let (sa, sb) = (shared::<f32>([64, 8]), shared::<f32>([8, 8]));
    let left = a.tile([0, 0], [64, 8]).load();
    sa.store(left);
    sb.store(b.tile([0, 0], [8, 8]).load());
    fence_async();
    sync();
    let from_shared = wgmma::mma(sa, sb.t(), zeros::<f32>([64, 8]));
    let from_registers = wgmma::mma(left, sb.t(), zeros::<f32>([64, 8]));
    c.tile([0, 0], [64, 8]).store(wgmma::wait(1, from_shared));
    d.tile([0, 0], [64, 8]).store(wgmma::wait(0, from_registers));
}
