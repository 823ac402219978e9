use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let tile = shared::<u8>([128, 64]).with_layout(swizzle(128).fp4_padded());
    tile.store(zeros([128, 64]));
}

fn main() {}
