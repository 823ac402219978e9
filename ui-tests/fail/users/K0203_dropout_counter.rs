use kiln::prelude::*;
use kiln::random::Philox;

// Wrong: the offsets of the elements, `i32`, are the counters, as in `tl.rand(seed, offsets)`; right is `offsets.cast::<u64>()`.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 512))]
pub fn wrong(x: Tensor<f32, 1>, out: TensorMut<f32, 1>, p: f32, seed: u64) {
    let start = block_id(0) * 512;
    let offsets = start + arange(0, 512);
    let random = Philox::new(seed).uniform(offsets);
    let keep = random.ge(p);
    let x = x.tile([start], [512]).load();
    out.tile([start], [512]).store(select(keep, x / (1.0 - p), 0.0));
}

fn main() {}
