//! Scatters of every element type, to memory of one axis and of two, in layouts of all kinds; of several values for one element, one stays.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: T[16, 32] bits
//@ arg one: T[512] poison
//@ arg two: T[4, 32, 16] poison
//@ arg same: T[8] poison
//@ expect one: x((511 - i) / 32, (511 - i) % 32)
//@ expect two: if j < 2 || k < 1 { x(0, 0) } else { x(k - 1, j - 2) }
//@ expect same: x(0, 0)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1,
         instances(T = [bool, i8, u16, i32, u64, f16, bf16, f32, f64], W = [1, 8]))]
pub fn scatter_types<T: Scalar, const W: i32>(
    x: Tensor<T, 2>,
    one: TensorMut<T, 1>,
    two: TensorMut<T, 3>,
    same: TensorMut<T, 1>,
) {
    let values = x.tile([0, 0], [16, 32]).load();
    let row = shared::<T>([512]);
    row.scatter((511 - arange(0, 512)).reshape([16, 32]), values);
    let first = x.tile([0, 0], [1, 1]).load().broadcast([32, 16]);
    // The last row and the last two columns go outside.
    let (rows, columns) = (arange(2, 34).expand(1), arange(1, 17).expand(0));
    let chosen = shared::<T>([32, 16]);
    let swizzled_rows = shared::<T>([32, 16]).with_layout(swizzled(1, 1, 16, [1, 0]));
    let by_columns = shared::<T>([32, 16]).with_layout(layout!(S[(32, 16) : (1, 32)]));
    let turned = shared::<T>([16, 32]);
    chosen.store(first);
    swizzled_rows.store(first);
    by_columns.store(first);
    turned.t().store(first);
    sync();
    chosen.scatter([rows, columns], values.t());
    swizzled_rows.scatter([rows, columns], values.t());
    by_columns.scatter([rows, columns], values.t());
    turned.scatter([columns.t(), rows.t()], values);
    let equal = shared::<T>([8]);
    equal.scatter(arange(0, 512) & 7, first.reshape([512]));
    sync();
    one.tile([0], [512]).store(row.load());
    two.tile([0, 0, 0], [1, 32, 16]).store(chosen.load().expand(0));
    two.tile([1, 0, 0], [1, 32, 16]).store(swizzled_rows.load().expand(0));
    two.tile([2, 0, 0], [1, 32, 16]).store(by_columns.load().expand(0));
    two.tile([3, 0, 0], [1, 32, 16]).store(turned.t().load().expand(0));
    same.tile([0], [8]).store(equal.load());
}
