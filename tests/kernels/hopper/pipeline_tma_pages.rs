//! Pipelined loops over TMA copies whose coordinates are loaded: pages of a table, and those that an index of an index names; the loops run
//! again and again, with odd and even numbers of iterations.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg rounds: i32 scalar 7
//@ arg order: i32[5] list(4, 0, 3, 3, 1)
//@ arg table: i32[6] list(7, 2, 9, 0, 5, 3)
//@ arg cache: f32[64, 16] list(1, -2, 3, 4, -5, 2, -1)
//@ arg out: f32[7, 16] poison
//@ arg last: f32[8, 16] poison
//@ expect out: sum(k, 0, i, sum(r, 0, 8, if table(k) < 8 { cache(8 * table(k) + r, j) } else { 0.0 }))
//@ expect last: sum(k, 0, 5, if table(order(k)) < 8 { cache(8 * table(order(k)) + i, j) } else { 0.0 })
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 2, grid = 1, instances(STAGES = [2, 3, 5]))]
pub fn pipeline_tma_pages<const STAGES: i32>(
    rounds: i32,
    order: Tensor<i32, 1>,
    table: Tensor<i32, 1>,
    #[block(8, 16)] cache: TensorMap<f32, 2>,
    out: TensorMut<f32, 2>,
    last: TensorMut<f32, 2>,
) {
    let (page, other) = (shared::<f32>([8, 16]), shared::<f32>([8, 16]));
    for round in 0..rounds {
        let mut total = zeros::<f32>([16]);
        for k in pipeline(0..round, STAGES) {
            let at = load(table.ptr() + k);
            copy_async(cache.at([8 * at, 0]), page);
            total += page.load().sum(0);
        }
        out.tile([round, 0], [1, 16]).store(total.expand(0));
    }
    let mut total = zeros::<f32>([8, 16]);
    for k in pipeline(0..order.dim(0), STAGES) {
        let at = load(table.ptr() + load(order.ptr() + k));
        copy_async(cache.at([8 * at, 0]), other);
        total += other.load();
    }
    last.tile([0, 0], [8, 16]).store(total);
}
