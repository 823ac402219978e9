use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(#[block(64, 64)] x: TensorMapMut<e2m1x2, 2>) {
    let tile = shared::<e2m1x2>([64, 64]).with_layout(swizzle(128).fp4_padded());
    tma::store(x, [0, 0], tile);
    tma::store_wait(0);
}

fn main() {}
