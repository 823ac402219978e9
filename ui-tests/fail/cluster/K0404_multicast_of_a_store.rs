use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, cluster = 2)]
pub fn clear(#[block(64, 64)] y: TensorMapMut<f16, 2>) {
    let tile = shared::<f16>([64, 64]);
    tile.store(zeros([64, 64]));
    tma::store(y, [0, 0], tile).multicast(0b11);
    tma::store_wait(0);
}

fn main() {}
