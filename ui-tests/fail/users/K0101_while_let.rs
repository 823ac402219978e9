use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn rows(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let mut sum = zeros::<f32>([128]);
    let mut rows = 0..x.dim(0);
    while let Some(row) = rows.next() {
        sum += x.tile([row, 0], [1, 128]).load().reshape([128]);
    }
    out.tile([0], [128]).store(sum);
}

fn main() {}
