use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn f(#[block(96, 64)] x: TensorMap<f32, 2>, out: TensorMut<f32, 2>) {
    let s = shared::<f32>([96, 64]);
    let full = barrier(1);
    full.expect(x.block_bytes());
    tma::load(x, [0, 0], full, s);
    full.wait(0);
    out.tile([0, 0], [96, 64]).store(s.load());
}

fn main() {}
