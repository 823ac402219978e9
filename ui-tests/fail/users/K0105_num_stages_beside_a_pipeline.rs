use kiln::prelude::*;

/// The sums of the columns.
#[kernel(
    target = sm_80,
    warps = 4,
    num_stages = 3,
    grid = cdiv(x.dim(1), 64)
)]
pub fn column_sums(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let column = block_id(0) * 64;
    let staged = shared::<f32>([16, 64]);
    let mut sum = zeros::<f32>([64]);
    for row in pipeline(range(0, x.dim(0), 16), 3) {
        copy_async(x.tile([row, column], [16, 64]), staged);
        sum += staged.load().sum(0);
    }
    out.tile([column], [64]).store(sum);
}

fn main() {}
