use kiln::prelude::*;

// Wrong: the block size is an ordinary argument (`BLOCK: tl.constexpr` in Triton), so the extent of `arange` is not known at compile time; right is `const BLOCK: i32` with `instances(BLOCK = [1024])`.
#[kernel(target = sm_80, warps = 4, grid = cdiv(n, block))]
pub fn wrong(x: Ptr<f32>, out: Ptr<f32>, n: i32, block: i32) {
    let start = block_id(0) * block;
    let offsets = start + arange(0, block);
    let mask = offsets.lt(n);
    let x = load_masked(x + offsets, mask, 0.0);
    let silu = x / (1.0 + (-x).exp());
    store_masked(out + offsets, mask, silu);
}

fn main() {}
