use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn product(m: Tensor<u16, 2>, c: TensorMut<f32, 2>) {
    let (a, b) = (shared::<f16>([64, 32]), shared::<f16>([64, 64]));
    let m = m.tile([0, 0], [64, 4]).load();
    let acc = wgmma::mma_sparse(a, m, b, zeros([64, 64]));
    c.tile([0, 0], [64, 64]).store(acc);
}

fn main() {}
