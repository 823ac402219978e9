use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fetch(#[block(1, 1, 1, 1, 8, 8)] x: TensorMap<f16, 6>) {
    tma::prefetch(x, [0, 0, 0, 0, 0, 0]);
}

fn main() {}
