use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(n, 128))]
pub fn clear_bits(x: Ptr<f32>, n: i32) {
    let words = x as Ptr<u32>;
    let i = block_id(0) * 128 + arange(0, 128);
    store_masked(words + i, i.lt(n), load_masked(words + i, i.lt(n), 0) & 0x7fff_ffff);
}

fn main() {}
