use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn square(x: Tensor<f16, 2>, y: TensorMut<f32, 2>) {
    let a = shared::<f16>([128, 64]);
    let sums = tmem::<f32>([128, 128]);
    let finished = barrier(1);
    a.store(x.tile([0, 0], [128, 64]).load());
    tcgen05::mma(a, a.t(), sums).accumulate(false);
    tcgen05::commit();
    finished.wait(0);
    y.tile([0, 0], [128, 128]).store(sums.load());
}

fn main() {}
