use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fetch(#[block(64, 1, 1, 64, filter = [3, 3])] x: TensorMap<e2m1x2, 4>) {
    let tile = shared::<f16>([64, 64]);
    let full = barrier(1);
    full.expect(x.block_bytes());
    tma::load(x, [0, 0, 0, 0], full, tile);
    full.wait(0);
}

fn main() {}
