use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn sum(n: i32, x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let acc = zeros::<f32>([128]);
    for i in range(0, n, 128) {
        acc += x.tile([i], [128]).load();
    }
    out.tile([0], [128]).store(acc);
}

fn main() {}
