use kiln::prelude::*;

// Wrong: the variable of a loop becomes shorter with every iteration: its Rust type stays, its shape does not; right is `values.sum(0).expand(0)` without a loop.
#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn wrong(x: Tensor<f32, 2>, sums: TensorMut<f32, 1>) {
    let row = block_id(0);
    let mut values = x.tile([row, 0], [1, 1024]).load().reshape([1024]);
    while values.dim(0) > 1 {
        let half = values.dim(0) / 2;
        let (even, odd) = values.reshape([half, 2]).split();
        values = even + odd;
    }
    sums.tile([row], [1]).store(values);
}

fn main() {}
