use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn positive_sum(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let mut total = zeros::<f32>([128]);
    for k in range(0, x.dim(0), 1) {
        let v = x.tile([k, 0], [1, 128]).load().reshape([128]);
        if v.le(0.0) {
            continue;
        }
        total += v;
    }
    out.tile([0], [128]).store(total);
}

fn main() {}
