use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Ptr<f32>, m: i32, n: i32, out: TensorMut<f32, 2>) {
    let p = make_block_ptr(x, [m, n], [n, 1], [block_id(0) * 64, 0], [64, 64], [1, 0]);
    let t = load(p);
    out.tile([block_id(0) * 64, 0], [64, 64]).store(t);
}

fn main() {}
