use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn clear(x: Ptr<f32>) {
    let tile = shared::<f32>([16, 32]);
    tile.store(zeros([16, 32]));
    bulk::store(x, tile.t());
    tma::store_wait(0);
}

fn main() {}
