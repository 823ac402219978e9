//! Rows that one block of a cluster stores by a list, and the other one loads by windows after it has waited for the first one's arrival;
//! and the other way round. The arrival orders what threads stored before it.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg rows: i32[8] list(3, 0, 7, 1, 2, 6, 5, 4)
//@ arg y: f32[8, 32] fill(9)
//@ arg z: f32[8, 32] fill(9)
//@ arg seen: f32[8, 32] poison
//@ arg listed: f32[8, 32] poison
//@ expect seen: 1
//@ expect listed: 2
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 1, cluster = 2, grid = 2)]
pub fn between(rows: Tensor<i32, 1>, y: TensorMut<f32, 2>, z: TensorMut<f32, 2>, seen: TensorMut<f32, 2>, listed: TensorMut<f32, 2>) {
    let there = barrier(1);
    cluster::sync();
    let rows = rows.tile([0], [8]).load();
    if cluster::rank() == 0 {
        y.tile_rows(rows, [0, 0], [8, 32]).store(full([8, 32], 1.0));
        z.tile([0, 0], [8, 32]).store(full([8, 32], 2.0));
        there.of_block(1).arrive();
    } else {
        there.wait(0);
        seen.tile([0, 0], [8, 32]).store(y.tile([0, 0], [8, 32]).load());
        listed.tile([0, 0], [8, 32]).store(z.tile_rows(rows, [0, 0], [8, 32]).load());
    }
    cluster::sync();
}
