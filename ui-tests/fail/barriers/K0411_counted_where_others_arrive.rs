use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = [2, 1])]
pub fn fetch(#[block(64, 64)] x: TensorMap<f16, 2>) {
    let tile = shared::<f16>([64, 64]);
    let full = barrier(2);
    full.expect_copies();
    tma::load(x, [0, 0], full, tile);
    full.of_block(cluster::rank() ^ 1).arrive();
    full.wait(0);
    cluster::sync();
}

fn main() {}
