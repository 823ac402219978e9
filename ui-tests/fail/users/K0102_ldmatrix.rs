use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
    let sa = shared::<f16>([64, 64]);
    let sb = shared::<f16>([64, 64]);
    sa.store(a.tile([0, 0], [64, 64]).load());
    sb.store(b.tile([0, 0], [64, 64]).load());
    sync();
    let mut acc = zeros::<f32>([64, 64]);
    mma_sync(acc, sa, sb, acc);
    c.tile([0, 0], [64, 64]).store(acc);
}

fn main() {}
