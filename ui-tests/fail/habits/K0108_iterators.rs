use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(n: i32, x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let v = x.tile([0, 0], [64, 64]).load();
    for (i, k) in (0..4).enumerate() {
        out.tile([i, 0], [64, 64]).store(v);
    }
    for i in (0..n).rev() {
        out.tile([i, 0], [64, 64]).store(v);
    }
    let squares = (0..4).map(|i| i * i);
    let all = v.iter().sum();
}

fn main() {}
