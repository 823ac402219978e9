use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn total(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let mut sum = zeros::<f32>([128]);
    for at in (0..x.dim(0)).step_by(128) {
        sum += x.tile([at], [128]).load();
    }
    out.tile([0], [128]).store(sum);
}

fn main() {}
