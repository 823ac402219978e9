// A load writes nothing that another thread could read, and a store reads nothing.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 8)]
pub fn load_that_releases(ready: TensorMut<i32, 1>) {
    let flag = ready.tile([0], [1]).release().atomic_load();
    ready.tile([1], [1]).acq_rel().atomic_store(flag);
}

fn main() {}
