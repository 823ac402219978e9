use kiln::prelude::*;
use kiln::random::Philox;

#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), 256))]
pub fn noise(out: TensorMut<f32, 1>, seed: u64) {
    let at = block_id(0) * 256;
    let noise = Philox::new(seed).normal(at + arange(0, 256));
    out.tile([at], [256]).store(noise);
}

fn main() {}
