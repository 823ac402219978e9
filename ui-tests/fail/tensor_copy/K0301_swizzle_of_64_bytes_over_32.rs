use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel() {
    let _staged = shared::<f32>([128, 8]).with_layout(swizzle(64));
}

fn main() {}
