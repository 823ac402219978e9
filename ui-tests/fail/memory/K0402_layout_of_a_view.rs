use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn rows(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let s = shared::<f32>([4096]).reshape([64, 64]).with_layout(swizzle(128));
    s.store(x.tile([0, 0], [64, 64]).load());
    sync();
    y.tile([0, 0], [64, 64]).store(s.load());
}

fn main() {}
