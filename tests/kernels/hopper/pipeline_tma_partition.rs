//! Pipelined loops in the parts of a kernel that specialises its warps: each has a ring and barriers of its own.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[32, 160] list(1, -2, 3, 4, -5)
//@ arg y: f32[32, 224] list(3, 1, -4, 1, 5, -9, 2, 6)
//@ arg sums: f32[32] poison
//@ arg largest: f32[32] poison
//@ expect sums: sum(k, 0, 160, x(i, k))
//@ expect largest: sum(k, 0, 224, y(i, k))
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1, instances(STAGES = [2, 3]))]
pub fn pipeline_tma_partition<const STAGES: i32>(
    #[block(32, 32)] x: TensorMap<f32, 2>,
    #[block(32, 32)] y: TensorMap<f32, 2>,
    sums: TensorMut<f32, 1>,
    largest: TensorMut<f32, 1>,
) {
    let (left, right) = (shared::<f32>([32, 32]), shared::<f32>([32, 32]));
    warp_specialize(
        || {
            let mut total = zeros::<f32>([32]);
            for at in pipeline(range(0, x.dim(1), 32), STAGES) {
                copy_async(x.at([0, at]), left);
                total += left.load().sum(1);
            }
            sums.tile([0], [32]).store(total);
        },
        [partition(2).run(|| {
            let mut total = zeros::<f32>([32]);
            for at in pipeline(range(0, y.dim(1), 32), 2) {
                copy_async(y.at([0, at]), right);
                total += right.load().sum(1);
            }
            largest.tile([0], [32]).store(total);
        })],
    );
}
