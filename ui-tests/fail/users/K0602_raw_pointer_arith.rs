use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(x: *const f32, out: *mut f32, n: i32) {
    let i = block_id(0) * 128 + arange(0, 128);
    *out.add(i) = *x.add(i);
}

fn main() {}
