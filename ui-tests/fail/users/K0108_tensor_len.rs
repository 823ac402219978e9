use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn mean(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let mut sum = zeros::<f32>([128]);
    for at in range(0, x.len(), 128) {
        sum += x.tile([at], [128]).load();
    }
    out.tile([0], [1]).store((sum.sum(0) / x.dim(0) as f32).reshape([1]));
}

fn main() {}
