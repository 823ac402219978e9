// CUDA: a ring of buffers is filled by TMA from a plain tensor.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<bf16, 2>, out: TensorMut<bf16, 2>) {
    let ring = shared::<bf16>([2, 64, 32]);
    let full = barriers(2, 1);
    full[0].expect(ring[0].bytes());
    tma::load(x, [0, 0], full[0], ring[0]);
    full[0].wait(0);
    out.tile([0, 0], [64, 32]).store(ring[0].load());
}

fn main() {}
