use kiln::prelude::*;

// Wrong: Triton's order `tl.store(pointer, value, mask)`; right is address, mask, value: `store_masked(out + offsets, mask, result)`.
#[kernel(target = sm_80, warps = 4, grid = cdiv(n, 1024))]
pub fn wrong(x: Ptr<f32>, y: Ptr<f32>, out: Ptr<f32>, alpha: f32, n: i32) {
    let offsets = block_id(0) * 1024 + arange(0, 1024);
    let mask = offsets.lt(n);
    let x = load_masked(x + offsets, mask, 0.0);
    let y = load_masked(y + offsets, mask, 0.0);
    let result = alpha * x + y;
    store_masked(out + offsets, result, mask);
}

fn main() {}
