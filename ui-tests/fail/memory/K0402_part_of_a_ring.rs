use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn rows(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let s = shared::<f32>([3, 32, 64]);
    s[0].store(x.tile([0, 0], [32, 64]).load());
    sync();
    y.tile([0, 0], [32, 64]).store(s.tile([0, 0, 0], [1, 32, 64]).reshape([32, 64]).load());
}

fn main() {}
