//! Accesses of shared memory in layouts that were pinned, with the bank conflicts that they cost; and a choice between registers,
//! which takes no shuffle. The emulator counts what the dump says of each warp, 192 and 448, for four warps.
//@ run: eval, emulate
//@ conflicts: 2560
//@ snapshot: layouts
//@ compare: exact
//@ arg x: f32[128, 64] bits
//@ arg out: f32[128, 64] poison
//@ arg turned: f32[64, 128] poison
//@ arg row: f32[64] poison
//@ expect out: x(i, j)
//@ expect turned: x(j, i)
//@ expect row: x(0, i)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn pinned_costs(
    x: Tensor<f32, 2>,
    out: TensorMut<f32, 2>,
    turned: TensorMut<f32, 2>,
    row: TensorMut<f32, 1>,
) {
    const COLUMNS: Layout = blocked([1, 1], [32, 1], [1, 4], [1, 0]);
    const ALL: Layout = blocked([64], [32], [4], [0]);
    const EACH: Layout = blocked([1], [32], [4], [0]);
    let tile = x.tile([0, 0], [128, 64]).load();
    let swizzled = shared::<f32>([128, 64]).with_layout(swizzle(128));
    let plain = shared::<f32>([128, 64]).with_layout(row_major());
    swizzled.store(tile);
    plain.store(tile);
    sync();
    out.tile([0, 0], [128, 64]).store(swizzled.load().to_layout(COLUMNS));
    turned.tile([0, 0], [64, 128]).store(plain.t().load());
    row.tile([0], [64]).store(x.tile([0, 0], [1, 64]).load().reshape([64]).to_layout(ALL).to_layout(EACH));
}
