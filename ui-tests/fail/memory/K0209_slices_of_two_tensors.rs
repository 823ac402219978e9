use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
fn k(a: Tensor<f32, 1>, b: Tensor<f32, 1>, first: bool, n: i32, y: TensorMut<f32, 1>) {
    let mut mine = a.slice(..n);
    if first {
        mine = b.slice(..n);
    }
    y.tile([0], [64]).store(mine.tile([0], [64]).load());
}

fn main() {}
