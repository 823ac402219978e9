use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn stored(x: Tensor<f32, 2>, #[block(64, 64)] y: TensorMapMut<f32, 2>) {
    let staged = shared::<f32>([64, 64]);
    staged.store(x.tile([0, 0], [64, 64]).load());
    fence_async();
    tma::store(y, [0, 0], staged);
}

fn main() {}
