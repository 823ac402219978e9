use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn copy(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let v = x.tile([0, 0], shape = [32, 64]).load();
    y.tile([0, 0], [32, 64]).store(v);
}

fn main() {}
