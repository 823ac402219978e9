use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(out: TensorMut<i32, 1>, n: i32) {
    let mut at = n;
    if let first @ 0.. = at
        && {
            at += 1;
            true
        }
    {
        out.tile([0], [128]).store(full([128], first));
    }
}

fn main() {}
