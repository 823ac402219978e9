use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = n)]
pub fn first(table: Ptr<i32>, out: Ptr<i32>, n: i32) {
    let at = table[block_id(0)];
    store(out + block_id(0), at * 2);
}

fn main() {}
