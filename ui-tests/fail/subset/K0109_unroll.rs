use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn sum(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let mut acc = zeros::<f32>([128]);
    for i in unroll(0..8192) {
        acc += x.tile([i * 128], [128]).load();
    }
    out.tile([0], [128]).store(acc);
}

fn main() {}
