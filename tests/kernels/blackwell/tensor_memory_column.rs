//! A tile of one column, in the notation of extents and strides.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: f32[128, 1] iota(-100, 3)
//@ arg b: f32[128, 1] poison
//@ expect b: a(i, j)
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn tensor_memory_column(a: Tensor<f32, 2>, b: TensorMut<f32, 2>) {
    let held = tmem::<f32>([128, 1]).with_layout(layout!(S[(128, 1) : (1 @ TLane, 1 @ TCol)]));
    held.store(a.tile([0, 0], [128, 1]).load());
    b.tile([0, 0], [128, 1]).store(held.load());
}
