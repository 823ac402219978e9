use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fetch(x: Tensor<f16, 2>) {
    let tile = shared::<f16>([64, 64]);
    let full = barrier(1);
    full.expect(tile.bytes());
    tma::load(x, [0, 0], full, tile);
    full.wait(0);
}

fn main() {}
