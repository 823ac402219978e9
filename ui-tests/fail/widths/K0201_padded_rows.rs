use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn f(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let s = shared::<f32>([64, 65]);
    s.store(x.tile([0, 0], [64, 65]).load());
    out.tile([0, 0], [65, 64]).store(s.load().t());
}

fn main() {}
