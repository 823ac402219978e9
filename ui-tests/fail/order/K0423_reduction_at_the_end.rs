use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn added(x: Tensor<f32, 2>, #[block(64, 64)] y: TensorMapMut<f32, 2>) {
    let staged = shared::<f32>([64, 64]);
    for step in 0..4 {
        tma::store_wait(0);
        staged.store(x.tile([64 * step, 0], [64, 64]).load());
        fence_async();
        tma::reduce_add(y, [0, 0], staged);
    }
}

fn main() {}
