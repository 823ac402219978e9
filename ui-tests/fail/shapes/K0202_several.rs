use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let x = x.tile([0, 0], [16, 64]).load();
    let weights = full::<f32>([64], 2.0);
    let (sum, _) = (x, weights).reduce(1, |(a, v), (b, w)| (a * v + b * w, 1.0));
    out.tile([0], [16]).store(sum);
}

fn main() {}
