//! `dot` of shared memory, of element types that warpgroups read along the depth alone: what lies the other way is done by warps,
//! and so are `f32` in full and layouts that no descriptor describes.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: i8[64, 64] list(1, -2, 3, 0, 2, -1, 7, -3, 1, 0, -9)
//@ arg b: i8[64, 64] list(-1, 2, 0, 3, 1, -2, 5)
//@ arg x: f32[64, 32] list(1, -2, 3, 0, 2, -1, 1, -3, 1, 0, -1)
//@ arg y: f32[32, 64] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg bytes: i32[64, 64] poison
//@ arg turned: i32[64, 64] poison
//@ arg rounded: f32[64, 64] poison
//@ arg whole: f32[64, 64] poison
//@ arg odd: f32[64, 64] poison
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn dot_shared_types(
    a: Tensor<i8, 2>,
    b: Tensor<i8, 2>,
    x: Tensor<f32, 2>,
    y: Tensor<f32, 2>,
    bytes: TensorMut<i32, 2>,
    turned: TensorMut<i32, 2>,
    rounded: TensorMut<f32, 2>,
    whole: TensorMut<f32, 2>,
    odd: TensorMut<f32, 2>,
) {
    let (sa, sb) = (shared::<i8>([64, 64]), shared::<i8>([64, 64]));
    let (sx, sy) = (shared::<f32>([64, 32]), shared::<f32>([64, 32]));
    sa.store(a.tile([0, 0], [64, 64]).load());
    sb.store(b.tile([0, 0], [64, 64]).load());
    sx.store(x.tile([0, 0], [64, 32]).load());
    sy.store(y.tile([0, 0], [32, 64]).load().t());
    // Rows of 64 bytes whose chunks are exchanged as nothing but registers have it.
    let hx = shared::<f16>([64, 32]).with_layout(swizzled(4, 1, 4, [1, 0]));
    let hy = shared::<f16>([32, 64]);
    hx.store(x.tile([0, 0], [64, 32]).load().cast::<f16>());
    hy.store(y.tile([0, 0], [32, 64]).load().cast::<f16>());
    sync();
    bytes.tile([0, 0], [64, 64]).store(dot(sa, sb.t(), zeros::<i32>([64, 64])));
    turned.tile([0, 0], [64, 64]).store(dot(sa, sb, zeros::<i32>([64, 64])));
    rounded.tile([0, 0], [64, 64]).store(dot_tf32(sx, sy.t(), zeros::<f32>([64, 64])));
    whole.tile([0, 0], [64, 64]).store(dot(sx, sy.t(), zeros::<f32>([64, 64])));
    odd.tile([0, 0], [64, 64]).store(dot(hx, hy, zeros::<f32>([64, 64])));
}
