use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fetch(#[block(64, 64)] x: TensorMap<f16, 2>) {
    tma::loads(x, [0, 0]);
}

fn main() {}
