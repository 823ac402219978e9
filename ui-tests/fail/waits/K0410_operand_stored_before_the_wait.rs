use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn scaled(x: Tensor<bf16, 2>, w: Tensor<bf16, 2>, c: TensorMut<f32, 2>) {
    let (sa, sb) = (shared::<bf16>([64, 64]), shared::<bf16>([64, 64]));
    sa.store(x.tile([0, 0], [64, 64]).load());
    sb.store(w.tile([0, 0], [64, 64]).load());
    let acc = wgmma::mma(sa, sb, zeros::<f32>([64, 64]));
    sa.store(x.tile([64, 0], [64, 64]).load());
    let acc = wgmma::wait(0, acc);
    c.tile([0, 0], [64, 64]).store(acc);
}

fn main() {}
