use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn sum(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let mut total = 0.0;
    for v in x.tile([0], [128]).load() {
        total += v;
    }
    out.tile([0], [128]).store(full([128], total));
}

fn main() {}
