use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f16, 2>, #[block(64, 64)] out: TensorMapMut<f16, 2>) {
    let s = shared::<f16>([64, 64]);
    s.store(x.tile([0, 0], [64, 64]).load());
    fence_async();
    sync();
    tma::store(out, [-64, 0], s);
    tma::store_wait(0);
}

fn main() {}
