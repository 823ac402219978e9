//! Four warpgroups with 256 columns each: a thread of such a block begins with too few registers for one instruction.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 16, grid = 1)]
pub fn multiply(x: Tensor<bf16, 2>, y: TensorMut<f32, 2>) {
    let (a, b) = (shared::<bf16>([256, 64]), shared::<bf16>([256, 64]));
    a.store(x.tile([0, 0], [256, 64]).load());
    b.store(x.tile([256, 0], [256, 64]).load());
    let acc = wgmma::mma(a, b.t(), zeros::<f32>([256, 256]));
    y.tile([0, 0], [256, 256]).store(wgmma::wait(0, acc));
}

fn main() {}
