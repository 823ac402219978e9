//! Pipelined loops over the rows of groups, each loop as long as its group: the ring is filled by TMA copies of a slice, and the rows after the
//! end add nothing. The same in a partition of its own.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg offsets: i32[6] list(0, 37, 37, 38, 130, 300)
//@ arg x: f32[200, 64] list(1, -2, 3, 4, -5, 2, 0)
//@ arg sums: f32[5, 64] poison
//@ arg most: f32[5, 64] poison
//@ expect sums: sum(k, offsets(i), min(offsets(i + 1), 200), x(k, j))
//@ expect most: sum(k, offsets(i), min(offsets(i + 1), 200), x(k, j) * x(k, j))
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1, instances(STAGES = [2, 3]))]
pub fn tma_slice_pipeline<const STAGES: i32>(
    offsets: Tensor<i32, 1>,
    #[block(32, 64)] x: TensorMap<f32, 2>,
    sums: TensorMut<f32, 2>,
    most: TensorMut<f32, 2>,
) {
    let (left, right) = (shared::<f32>([32, 64]), shared::<f32>([32, 64]));
    warp_specialize(
        || {
            for g in range(0, 5, 1) {
                let mine = x.slice((load(offsets.ptr() + g)..load(offsets.ptr() + g + 1), ..));
                let mut total = zeros::<f32>([64]);
                for i in pipeline(range(0, mine.dim(0), 32), STAGES) {
                    copy_async(mine.at([i, 0]), left);
                    total += left.load().sum(0);
                }
                sums.tile([g, 0], [1, 64]).store(total.expand(0));
            }
        },
        [partition(4).run(|| {
            for g in range(0, 5, 1) {
                let mine = x.slice((load(offsets.ptr() + g)..load(offsets.ptr() + g + 1), ..));
                let mut total = zeros::<f32>([64]);
                for i in pipeline(range(0, cdiv(mine.dim(0), 32), 1), 2) {
                    copy_async(mine.at([i * 32, 0]), right);
                    let tile = right.load();
                    total += (tile * tile).sum(0);
                }
                most.tile([g, 0], [1, 64]).store(total.expand(0));
            }
        })],
    );
}
