use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn fetch(#[block(64, 64)] x: TensorMap<f16, 2>) {
    tma::prefetch(x, [0, 0]);
}

fn main() {}
