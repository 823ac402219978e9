//! Elements of two axes by two tiles of indices, in layouts of all kinds: chosen, swizzled, by columns, transposed, a row of a tile; the extents
//! of the indices grow to each other's, and either one may be outside.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[32, 64] bits
//@ arg rows: i32[16] uniform(-8, 40)
//@ arg columns: i32[32] uniform(-8, 72)
//@ arg out: T[6, 16, 32] poison
//@ arg row: T[32] poison
//@ expect out: if rows(j) >= 0 && rows(j) < 32 && columns(k) >= 0 && columns(k) < 64 { x(rows(j), columns(k)) } else { 0 }
//@ expect row: if columns(i) >= 0 && columns(i) < 64 { x(5, columns(i)) } else { 0 }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(T = [u8, f16, f32, f64], W = [1, 4]))]
pub fn by_two_indices<T: Scalar, const W: i32>(
    x: Tensor<T, 2>,
    rows: Tensor<i32, 1>,
    columns: Tensor<i32, 1>,
    out: TensorMut<T, 3>,
    row: TensorMut<T, 1>,
) {
    let whole = x.tile([0, 0], [32, 64]).load();
    let i = rows.tile([0], [16]).load().expand(1);
    let j = columns.tile([0], [32]).load().expand(0);

    let chosen = shared::<T>([32, 64]);
    let swizzled_rows = shared::<T>([32, 64]).with_layout(swizzle(32));
    let by_columns = shared::<T>([32, 64]).with_layout(layout!(S[(32, 64) : (1, 32)]));
    let ring = shared::<T>([3, 32, 64]);
    chosen.store(whole);
    swizzled_rows.store(whole);
    by_columns.store(whole);
    ring[2].store(whole);
    let turned = shared::<T>([64, 32]);
    turned.t().store(whole);
    sync();
    out.tile([0, 0, 0], [1, 16, 32]).store(chosen.gather([i, j]).expand(0));
    out.tile([1, 0, 0], [1, 16, 32]).store(swizzled_rows.gather([i, j]).expand(0));
    out.tile([2, 0, 0], [1, 16, 32]).store(by_columns.gather([i, j]).expand(0));
    out.tile([3, 0, 0], [1, 16, 32]).store(ring[2].gather([i, j]).expand(0));
    out.tile([4, 0, 0], [1, 16, 32]).store(turned.t().gather([i, j]).expand(0));
    out.tile([5, 0, 0], [1, 16, 32]).store(turned.gather([j, i]).expand(0));
    row.tile([0], [32]).store(chosen[5].gather(columns.tile([0], [32]).load()));
}
