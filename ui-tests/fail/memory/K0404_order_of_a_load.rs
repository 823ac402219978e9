// A flag that is polled by a load that is no atomic operation.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 8)]
pub fn order_of_a_load(ready: TensorMut<i32, 1>) {
    while ready.tile([0], [1]).acquire().load().item() == 0 {}
}

fn main() {}
