use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [8, 4, 2])]
pub fn mark(out: TensorMut<i32, 1>) {
    let at = block_id(1) + block_id(2) * 8 + block_id(3) * 32;
    out.tile([at], [1]).store(full([1], at));
}

fn main() {}
