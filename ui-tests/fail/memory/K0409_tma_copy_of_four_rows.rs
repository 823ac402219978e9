use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn rows(#[block(4, 64)] x: TensorMap<f16, 2>, y: TensorMut<f16, 2>) {
    let s = shared::<f16>([64, 64]).with_layout(swizzle(128));
    let full = barrier(1);
    full.expect(x.block_bytes());
    tma::load(x, [0, 0], full, s.tile([4, 0], [4, 64]));
    full.wait(0);
    y.tile([0, 0], [4, 64]).store(s.tile([4, 0], [4, 64]).load());
}

fn main() {}
