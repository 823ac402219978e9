//! A table that TMA brings is read by index, changed by index, and stored by TMA: what threads wrote is fenced before the copy reads it.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[8, 64] uniform(-8, 8)
//@ arg at: i32[128] uniform(-4, 12)
//@ arg column: i32[128] uniform(-10, 80)
//@ arg read: f32[128] poison
//@ arg changed: f32[8, 64] poison
//@ expect read: if at(i) >= 0 && at(i) < 8 && column(i) >= 0 && column(i) < 64 { x(at(i), column(i)) } else { 0.0 }
//@ expect changed: if i == 2 { 1.0 } else if i == 5 { x(i, j) + 2.0 } else { x(i, j) }
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = W, grid = 1, instances(W = [1, 4]))]
pub fn table_by_tma<const W: i32>(
    #[block(8, 64)] x: TensorMap<f32, 2>,
    at: Tensor<i32, 1>,
    column: Tensor<i32, 1>,
    read: TensorMut<f32, 1>,
    #[block(8, 64)] changed: TensorMapMut<f32, 2>,
) {
    let (table, filled) = (shared::<f32>([8, 64]), barrier(1));
    filled.expect(table.bytes());
    tma::load(x, [0, 0], filled, table);
    filled.wait(0);
    let indices = [at.tile([0], [128]).load(), column.tile([0], [128]).load()];
    read.tile([0], [128]).store(table.gather(indices));
    sync();
    let j = arange(0, 64);
    table.scatter([zeros([64]) + 2, j], full([64], 1.0));
    table.atomic_add([zeros([64]) + 5, j], full([64], 2.0));
    sync();
    tma::store(changed, [0, 0], table);
    tma::store_wait(0);
}
