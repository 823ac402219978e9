use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = [cdiv(y.dim(0), 128), cdiv(y.dim(1), 64)])]
pub fn conv3x3(
    #[block(128, 1, 1, 64, filter = [3, 3], padding = 1)] x: TensorMap<bf16, 4>,
    #[block(64, 1, 1, 64)] weights: TensorMap<bf16, 4>,
    y: TensorMut<f32, 2>,
) {
    let (place, k) = (block_id(0) * 128, block_id(1) * 64);
    let (a, b) = (shared::<bf16>([128, 64]), shared::<bf16>([64, 64]));
    let mut acc = zeros::<f32>([128, 64]);
    for tap in pipeline(0..9, 3) {
        copy_async(x.at([place, tap / 3, tap % 3, 0]), a);
        copy_async(weights.at([k, tap / 3, tap % 3, 0]), b);
        acc = dot(a, b.t(), acc);
    }
    y.tile([place, k], [128, 64]).store(acc);
}

fn main() {}
