use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn total(x: Tensor<f32, 1>, out: TensorMut<f32, 1>, blocks: i32) {
    let mut sum = zeros::<f32>([128]);
    for i in 0..blocks as usize {
        sum += x.tile([i * 128], [128]).load();
    }
    out.tile([0], [128]).store(sum);
}

fn main() {}
