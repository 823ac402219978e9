use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(x: Tensor<f32, 1>, n: i32, out: TensorMut<f32, 1>) {
    let x = x.tile([0], [64]).load();
    let (best, _) = x.top_k(n, 0);
    let counts = x.cast::<i32>().histogram(n);
    out.tile([0], [64]).store(x.sort(n));
}

fn main() {}
