use kiln::prelude::*;

// Each layout is that of one of the two variants of a kernel.
#[kernel(target = sm_80, warps = 4)]
pub fn vectors(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    const L: Layout = blocked([1, 4], [2, 16], [4, 1], [1, 0]);
    y.tile([0, 0], [64, 64]).store(x.tile([0, 0], [64, 64]).load().assert_layout(L));
}

#[kernel(target = sm_80, warps = 4)]
pub fn elements(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    const L: Layout = blocked([1, 1], [1, 32], [2, 2], [1, 0]);
    let t = x.tile([0, 0], [64, 64]).load();
    y.tile([0, 0], [64, 64]).store((t + 1.0).assert_layout(L));
}

fn main() {}
