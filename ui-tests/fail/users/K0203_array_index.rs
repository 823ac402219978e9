use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn sum(xs: [Tensor<f32, 1>; 3], out: TensorMut<f32, 1>) {
    let mut v = zeros::<f32>([128]);
    for k in unroll(0..3) {
        v += xs[k].tile([0], [128]).load();
    }
    out.tile([0], [128]).store(v);
}

fn main() {}
