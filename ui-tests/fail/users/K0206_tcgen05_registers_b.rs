use kiln::prelude::*;

#[kernel(target = sm_100f, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<bf16, 2>, out: TensorMut<f32, 2>) {
    let sa = shared::<bf16>([128, 64]);
    let b = x.tile([0, 0], [64, 128]).load();
    let acc = tmem::<f32>([128, 128]);
    tcgen05::mma(sa, b, acc).accumulate(false);
    out.tile([0, 0], [128, 128]).store(acc.load());
}

fn main() {}
