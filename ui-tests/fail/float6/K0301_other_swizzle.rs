use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
fn swizzled(#[block(128, 8)] x: TensorMap<e2m3x16, 2>) {
    let staged = shared::<e2m3x16>([128, 8]).with_layout(swizzle(64));
    let filled = barrier(1);
    filled.expect(staged.bytes());
    tma::load(x, [0, 0], filled, staged);
    filled.wait(0);
}

fn main() {}
