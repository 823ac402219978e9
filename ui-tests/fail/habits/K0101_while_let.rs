use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(n: i32, x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let v = x.tile([0, 0], [64, 64]).load();
    while let Some(i) = n {
        out.tile([i, 0], [64, 64]).store(v);
    }
}

fn main() {}
