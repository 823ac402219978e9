use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fetch(#[block(64, 64)] x: TensorMap<f16, 2>) {
    let tile = shared::<f16>([64, 64]);
    tma::load(x, [0, 0], tile, tile);
}

fn main() {}
