use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(n: i32, x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
    let a = x.tile([0], [100]).load();
    let b = y.tile([0], [64]).load() + x.tile([0], [128]).load();
    let c = arange(0, 64) + 1.5;
    if b.gt(0.0) {
        y.tile([0], [128]).store(nowhere(c));
    }
    x.tile([0], [128]).store(zeros([128]));
}

fn main() {}
