use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn put(#[block(1, 64)] x: TensorMapMut<f16, 2>, rows: Tensor<i32, 1>) {
    let rows = rows.tile([0], [8]).load();
    let tile = shared::<f16>([8, 64]);
    tile.store(zeros([8, 64]));
    tma::scatter(x, minimum(rows, -1), 0, tile);
    tma::store_wait(0);
}

fn main() {}
