use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn fetch(#[block(1, 64)] x: TensorMap<f16, 2>, rows: Tensor<i32, 1>) {
    let full = barrier(1);
    tma::gather(x, rows.tile([0], [8]).load(), full, shared::<f16>([8, 64]));
}

fn main() {}
