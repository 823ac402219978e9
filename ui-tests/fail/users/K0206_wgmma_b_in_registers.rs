use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn product(a: Tensor<bf16, 2>, b: Tensor<bf16, 2>, c: TensorMut<f32, 2>) {
    let at = a.tile([0, 0], [64, 64]).load();
    let bt = b.tile([0, 0], [64, 64]).load();
    let mut acc = zeros::<f32>([64, 64]);
    acc = wgmma::mma(at, bt, acc);
    acc = wgmma::wait(0, acc);
    c.tile([0, 0], [64, 64]).store(acc);
}

fn main() {}
