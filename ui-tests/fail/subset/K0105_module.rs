use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 8)]
mod kernels {
    use super::*;

    #[kernel(target = sm_80)]
    pub fn zero(y: TensorMut<f32, 1>) {
        y.tile([0], [64]).store(zeros([64]));
    }
}

fn main() {}
