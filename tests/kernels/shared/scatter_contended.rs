//! Threads scatter different values to one element: one of these stays, and it is no race.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg kept: i32[8] poison
//@ expect kept: 1
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn scatter_contended(kept: TensorMut<i32, 1>) {
    let places = shared::<i32>([8]);
    let i = arange(0, 512);
    places.scatter(i & 7, i * 3);
    sync();
    let one = places.load();
    let of_place = (one / 3 & 7).eq(arange(0, 8)) & (one % 3).eq(0) & one.ge(0) & one.lt(3 * 512);
    kept.tile([0], [8]).store(select(of_place, 1, 0));
}
