use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn write(#[block(64, 64)] x: TensorMapMut<f16, 2>) {
    let tile = shared::<f16>([64, 64]);
    tile.store(zeros([64, 64]));
    tma::store(x, [-64, 0], tile);
    tma::reduce_add(x, [0, 64 - 128], tile);
    copy_async(tile, x.at([64, -8]));
    tma::store_wait(0);
}

fn main() {}
