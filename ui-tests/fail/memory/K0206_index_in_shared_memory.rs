use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn permute(x: Tensor<f32, 1>, at: Tensor<i32, 1>, y: TensorMut<f32, 1>) {
    let (staged, indices) = (shared::<f32>([256]), shared::<i32>([256]));
    staged.store(x.tile([0], [256]).load());
    indices.store(at.tile([0], [256]).load());
    sync();
    y.tile([0], [256]).store(staged.gather(indices));
}

fn main() {}
