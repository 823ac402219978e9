use kiln::prelude::*;

fn combine(a1: f32, b1: f32, a2: f32, b2: f32) -> (f32, f32) {
    (a1 * a2, a2 * b1 + b2)
}

#[kernel(target = sm_80, warps = 4, grid = a.dim(0))]
pub fn ssm(a: Tensor<f32, 2>, b: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let row = block_id(0);
    let av = a.tile([row, 0], [1, 256]).load();
    let bv = b.tile([row, 0], [1, 256]).load();
    let (_, h) = associative_scan((av, bv), 1, combine);
    out.tile([row, 0], [1, 256]).store(h);
}

fn main() {}
