use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn stored(x: Tensor<f32, 2>, #[block(64, 32)] y: TensorMapMut<f32, 2>) {
    let staged = shared::<f32>([64, 32]);
    staged.store(x.tile([0, 0], [64, 32]).load());
    tma::store(y, [0, 0], staged);
}

fn main() {}
