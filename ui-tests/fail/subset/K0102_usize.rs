use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn count(x: TensorMut<i32, 1>) {
    let n: usize = 128;
    x.tile([0], [128]).store(full([128], n));
}

fn main() {}
