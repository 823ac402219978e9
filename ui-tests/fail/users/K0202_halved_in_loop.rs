use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn tree(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let mut v = x.tile([0], [128]).load();
    for _ in 0..3 {
        let (a, b) = v.reshape([64, 2]).split();
        v = a + b;
    }
    out.tile([0], [16]).store(v);
}

fn main() {}
