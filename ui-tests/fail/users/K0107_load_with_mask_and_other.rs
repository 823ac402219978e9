// Triton: SGD with momentum over pointers. `tl.load(ptr, mask, other)`: here `load` takes only the address, the masked one is `load_masked`.
// RIGHT: let g = load_masked(grad + at, mask, 0.0);
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = cdiv(n, 512))]
pub fn sgd_momentum(param: Ptr<f32>, grad: Ptr<f32>, buf: Ptr<f32>, lr: f32, mu: f32, n: i32) {
    let at = block_id(0) * 512 + arange(0, 512);
    let mask = at.lt(n);
    let g = load(grad + at, mask, 0.0);
    let m = load_masked(buf + at, mask, 0.0);
    let p = load_masked(param + at, mask, 0.0);
    let m = mu * m + g;
    store_masked(buf + at, mask, m);
    store_masked(param + at, mask, p - lr * m);
}

fn main() {}
