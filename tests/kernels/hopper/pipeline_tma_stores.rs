//! An iteration writes over what it has copied: the next copy to the place comes after.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ snapshot: schedule
//@ arg x: i32[32, 256] list(1, -2, 3, 4, -5, 9, -7)
//@ arg out: i32[32] poison
//@ expect out: 2 * sum(k, 0, 256, x(i, k)) + 256
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1, instances(STAGES = [2]))]
pub fn pipeline_tma_stores<const STAGES: i32>(
    #[block(32, 32)] x: TensorMap<i32, 2>,
    out: TensorMut<i32, 1>,
) {
    let tile = shared::<i32>([32, 32]);
    let mut total = zeros::<i32>([32]);
    for at in pipeline(range(0, x.dim(1), 32), STAGES) {
        copy_async(x.at([0, at]), tile);
        let doubled = tile.load() * 2 + 1;
        sync();
        tile.store(doubled);
        sync();
        total += tile.load().sum(1);
    }
    out.tile([0], [32]).store(total);
}
