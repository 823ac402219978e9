use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fetch(#[block(64, 64)] x: TensorMap<f16, 2>, slot: i32) {
    let tile = shared::<f16>([64, 64]);
    let full = barriers(2, 1);
    full[0].expect_copies();
    tma::load(x, [0, 0], full[slot], tile);
    full[0].wait(0);
}

fn main() {}
