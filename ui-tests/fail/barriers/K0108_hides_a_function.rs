//! A barrier has the name of a function of the language.

use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn clear(#[block(64, 64)] x: TensorMap<f32, 2>, c: TensorMut<f32, 2>) {
    let full = barriers(2, 1);
    full[0].expect(x.block_bytes());
    tma::load(x, [0, 0], full[0], shared([64, 64]));
    full[0].wait(0);
    c.tile([0, 0], [64, 64]).store(full([64, 64], 0.0));
}

fn main() {}
