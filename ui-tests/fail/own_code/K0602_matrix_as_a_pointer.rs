// CUDA: matrices are pointers, and so are their parameters.
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(a: *const f16, c: *mut f32) {
    let at = [block_id(0) * 64, block_id(1) * 64];
    let v = a.tile(at, [64, 64]).load();
    c.tile(at, [64, 64]).store(v.cast::<f32>());
}

fn main() {}
