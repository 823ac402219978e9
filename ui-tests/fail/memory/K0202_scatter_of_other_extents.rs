use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn permute(x: Tensor<f32, 1>, at: Tensor<i32, 1>, y: TensorMut<f32, 1>) {
    let staged = shared::<f32>([256]);
    staged.scatter(at.tile([0], [128]).load(), x.tile([0], [256]).load());
    sync();
    y.tile([0], [256]).store(staged.load());
}

fn main() {}
