//! Pipelined loops whose copies read where loaded indices say: the pages of a table, the rows of a tile of indices, an index that is the sum
//! of a tile, an index from shared memory. No index is read past the end of its tensor.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg cache: f32[64, 32] list(1, -2, 3, 4, -5)
//@ arg pages: f32[8, 32] poison
//@ arg seen: i32[8] poison
//@ arg gathered: f32[16, 32] poison
//@ arg summed: f32[8, 32] poison
//@ arg kept: f32[8, 32] poison
//@ expect pages: sum(k, 0, n, cache(8 * table(k) + i, j))
//@ expect seen: sum(k, 0, n, table(k) * (k + 1))
//@ expect gathered: sum(k, 0, n, cache(rows(16 * k + i), j))
//@ expect summed: sum(k, 0, n, cache(8 * (table(k) / 2) + i, j))
//@ expect kept: sum(k, 0, n, cache(8 * (table(k) % 4) + i, j))
//@ case: no iteration
//@ arg n: i32 scalar 0
//@ arg table: i32[1] list(7)
//@ arg rows: i32[16] list(7)
//@ case: one iteration
//@ arg n: i32 scalar 1
//@ arg table: i32[1] list(7)
//@ arg rows: i32[16] list(63, 0, 5, 5, 17)
//@ case: two iterations
//@ arg n: i32 scalar 2
//@ arg table: i32[2] list(7, 3)
//@ arg rows: i32[32] list(63, 0, 5, 5, 17)
//@ case: seven iterations
//@ arg n: i32 scalar 7
//@ arg table: i32[7] list(7, 3, 3, 0, 5, 1, 6)
//@ arg rows: i32[112] list(63, 0, 5, 5, 17, 22, 9)
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = 4, grid = 1, instances(STAGES = [2, 3, 5]))]
#[expect(clippy::too_many_arguments, reason = "each is a result of its own")]
pub fn pipeline_pages<const STAGES: i32>(
    n: i32,
    table: Tensor<i32, 1>,
    rows: Tensor<i32, 1>,
    cache: Tensor<f32, 2>,
    pages: TensorMut<f32, 2>,
    seen: TensorMut<i32, 1>,
    gathered: TensorMut<f32, 2>,
    summed: TensorMut<f32, 2>,
    kept: TensorMut<f32, 2>,
) {
    let (page, other) = (shared::<f32>([8, 32]), shared::<f32>([8, 32]));
    let mut total = zeros::<f32>([8, 32]);
    let mut counted = 0;
    for k in pipeline(0..n, STAGES) {
        let at = load(table.ptr() + k);
        copy_async(cache.tile([at * 8, 0], [8, 32]), page);
        total += page.load();
        counted += at * (k + 1);
    }
    pages.tile([0, 0], [8, 32]).store(total);
    seen.tile([0], [8]).store(full([8], counted));

    let some = shared::<f32>([16, 32]);
    let mut total = zeros::<f32>([16, 32]);
    for first in pipeline(range(0, 16 * n, 16), STAGES) {
        let at = load(rows.ptr() + first + arange(0, 16));
        copy_async(cache.ptr() + (at.expand(1) * 32 + arange(0, 32).expand(0)), some);
        total += some.load();
    }
    gathered.tile([0, 0], [16, 32]).store(total);

    let mut total = zeros::<f32>([8, 32]);
    for k in pipeline(0..n, STAGES) {
        let at = table.tile([k], [2]).load();
        let at = select(arange(0, 2).eq(0), at, 0).sum(0).item();
        copy_async(cache.tile([at / 2 * 8, 0], [8, 32]), other);
        total += other.load();
    }
    summed.tile([0, 0], [8, 32]).store(total);

    let (indices, last) = (shared::<i32>([8]), shared::<f32>([8, 32]));
    indices.store(table.tile([0], [8]).load() % 4);
    sync();
    let mut total = zeros::<f32>([8, 32]);
    for k in pipeline(0..n, STAGES) {
        let at = indices.gather(full([1], k)).sum(0).item();
        copy_async(cache.tile([at * 8, 0], [8, 32]), last);
        total += last.load();
    }
    kept.tile([0, 0], [8, 32]).store(total);
}
