//! An iteration changes what it has copied, by index: the next copy to the place comes after, through another proxy.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[512] list(1, -2, 3, 4, -5, 9, -7)
//@ arg out: i32[64] poison
//@ expect out: sum(k, 0, 8, x(64 * k + 63 - i)) + 8
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1, instances(STAGES = [2]))]
pub fn pipeline_tma_scatter<const STAGES: i32>(
    #[block(64)] x: TensorMap<i32, 1>,
    out: TensorMut<i32, 1>,
) {
    let tile = shared::<i32>([64]);
    let mut total = zeros::<i32>([64]);
    for at in pipeline(range(0, x.dim(0), 64), STAGES) {
        copy_async(x.at([at]), tile);
        let copied = tile.load();
        sync();
        tile.scatter(63 - arange(0, 64), copied);
        sync();
        tile.atomic_add(arange(0, 64), full([64], 1));
        sync();
        total += tile.load();
    }
    out.tile([0], [64]).store(total);
}
