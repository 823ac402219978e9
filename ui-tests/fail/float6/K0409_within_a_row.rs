use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
fn within(#[block(128, 8)] x: TensorMap<e3m2x16, 2>) {
    let (staged, filled) = (shared::<e3m2x16>([128, 8]), barrier(1));
    filled.expect(staged.bytes());
    tma::load(x, [0, 4], filled, staged);
    filled.wait(0);
}

fn main() {}
