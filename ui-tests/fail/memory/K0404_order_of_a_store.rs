// A flag that is set by a store that is no atomic operation, for another device.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 8)]
pub fn order_of_a_store(ready: TensorMut<i32, 1>) {
    ready.tile([0], [1]).system_scope().store(full([1], 1));
}

fn main() {}
