use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn put(#[block(1, 64)] x: TensorMapMut<f16, 2>) {
    let rows = arange(-4, 4);
    let tile = shared::<f16>([8, 64]);
    tile.store(zeros([8, 64]));
    tma::scatter(x, rows, 0, tile);
    tma::store_wait(0);
}

fn main() {}
