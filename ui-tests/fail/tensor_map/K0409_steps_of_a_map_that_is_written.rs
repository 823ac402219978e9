use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn clear(#[block(64, 64, element_strides = [2, 1])] x: TensorMapMut<f16, 2>) {
    let tile = shared::<f16>([64, 64]);
    tile.store(zeros([64, 64]));
    tma::store(x, [0, 0], tile);
    tma::store_wait(0);
}

fn main() {}
