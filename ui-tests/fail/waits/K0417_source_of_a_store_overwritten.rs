use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn copy(x: Tensor<f32, 2>, #[block(64, 64)] y: TensorMapMut<f32, 2>) {
    let s = shared::<f32>([64, 64]);
    for k in range(0, 4, 1) {
        s.store(x.tile([k * 64, 0], [64, 64]).load());
        tma::store(y, [k * 64, 0], s);
    }
    tma::store_wait(0);
}

fn main() {}
