use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn twice(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    const RESULT: Layout = mma([2, 2]);
    let t = x.tile([0, 0], [64, 64]).load();
    out.tile([0, 0], [64, 64]).store((t + t).assert_layout(RESULT));
}

fn main() {}
