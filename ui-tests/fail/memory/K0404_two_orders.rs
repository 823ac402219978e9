// The two orders of one operation are one.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 8)]
pub fn two_orders(ready: TensorMut<i32, 1>, counts: TensorMut<i32, 1>) {
    ready.tile([0], [1]).acquire().release().atomic_add(full([1], 1));
    counts.tile([0], [1]).system_scope().system_scope().atomic_add(full([1], 1));
}

fn main() {}
