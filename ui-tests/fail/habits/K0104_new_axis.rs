use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(out: TensorMut<i32, 2>) {
    let sums = arange(0, 32)[:, None] + arange(0, 64)[None, :];
    out.tile([0, 0], [32, 64]).store(sums);
}

fn main() {}
