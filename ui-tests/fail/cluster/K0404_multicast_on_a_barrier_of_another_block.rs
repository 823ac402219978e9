use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, cluster = 2)]
pub fn fetch(#[block(64, 64)] x: TensorMap<f16, 2>) {
    let tile = shared::<f16>([64, 64]);
    let full = barrier(1);
    full.expect(2 * x.block_bytes());
    tma::load(x, [0, 0], full.of_block(0), tile).multicast(0b11);
    full.wait(0);
    cluster::sync();
}

fn main() {}
