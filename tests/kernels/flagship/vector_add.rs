//! out = a + b, a block at a time.
//@ run: eval, emulate, gpu
//@ snapshot: ir, layouts, ptx
//@ no-spill
//@ compare: exact
//@ expect out: a(i) + b(i)
//@ case: ragged
//@ arg a: f32[2500] uniform(-1, 1)
//@ arg b: f32[2500] uniform(-1, 1)
//@ arg out: f32[2500] poison
//@ case: one element
//@ arg a: f32[1] uniform(-1, 1)
//@ arg b: f32[1] uniform(-1, 1)
//@ arg out: f32[1] poison
//@ case: strided and misaligned
//@ arg a: f32[1025] uniform(-1, 1) strides(3)
//@ arg b: f32[1025] uniform(-1, 1) offset(1)
//@ arg out: f32[1025] poison strides(2) offset(3)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), N), instances(N = [1024]))]
pub fn vector_add<const N: i32>(a: Tensor<f32, 1>, b: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let at = [block_id(0) * N];
    out.tile(at, [N]).store(a.tile(at, [N]).load() + b.tile(at, [N]).load());
}
