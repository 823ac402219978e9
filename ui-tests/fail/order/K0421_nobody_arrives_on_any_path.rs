use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fill(y: TensorMut<f32, 1>, chosen: Tensor<i32, 1>) {
    let full = barrier(2);
    if chosen.tile([0], [1]).load().sum(0).item() > 0 {
        full.wait(0);
        y.tile([0], [64]).store(zeros([64]));
    }
}

fn main() {}
