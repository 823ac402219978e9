use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(#[block(64, 64)] x: TensorMap<e2m1x2, 2>) {
    let tile = shared::<e2m1x2>([64, 64]).with_layout(swizzle(128).fp4_padded());
    let bar = barrier(1);
    bar.expect(4096);
    tma::load(x, [0, 64 * block_id(0) + 32], bar, tile);
    bar.wait(0);
}

fn main() {}
