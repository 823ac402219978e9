use kiln::prelude::*;

#[kernel(target = sm_80, warps = 8, grid = cdiv(n, 256))]
pub fn add(x: Ptr<f32>, y: Ptr<f32>, out: Ptr<f32>, n: i32) {
    let i = block_id(0) * 256 + arange(0, 256);
    let mask = i.lt(n);
    if mask {
        let a = load(x + i);
        let b = load(y + i);
        store(out + i, a + b);
    }
}

fn main() {}
