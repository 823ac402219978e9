use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn f(x: Ptr<f16>, out: Ptr<f32>, n: i32) {
    let rows = arange(0, 48);
    let cols = arange(0, 64);
    let at = rows.expand(1) * 64 + cols.expand(0);
    let v = load(x + at).cast::<f32>();
    store(out + rows, v.sum(1));
}

fn main() {}
