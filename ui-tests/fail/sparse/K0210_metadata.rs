use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn product(w: Tensor<f16, 2>, x: Tensor<f16, 2>, m: Tensor<u16, 2>, y: TensorMut<f32, 2>) {
    let w = w.tile([0, 0], [64, 32]).load();
    let (x, m) = (x.tile([0, 0], [64, 32]).load(), m.tile([0, 0], [64, 8]).load());
    y.tile([0, 0], [64, 32]).store(dot_sparse(w, x, zeros([64, 32]), m));
}

fn main() {}
