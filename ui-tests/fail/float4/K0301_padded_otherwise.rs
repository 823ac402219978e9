use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let tile = shared::<e2m1x2>([128, 64]).with_layout(swizzle(64).fp4_padded());
    let rows = shared::<e2m1x2>([128, 64]).with_layout(row_major().fp4_padded());
    let short = shared::<e2m1x2>([128, 32]).with_layout(swizzle(128).fp4_padded());
    let typo = shared::<e2m1x2>([128, 64]).with_layout(swizzle(128).fp4_paded());
}

fn main() {}
