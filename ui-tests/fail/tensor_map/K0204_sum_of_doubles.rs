use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn count(#[block(8, 8)] y: TensorMapMut<f64, 2>) {
    let tile = shared::<f64>([8, 8]);
    tile.store(full([8, 8], 1.0));
    tma::reduce_add(y, [0, 0], tile);
    tma::store_wait(0);
}

fn main() {}
