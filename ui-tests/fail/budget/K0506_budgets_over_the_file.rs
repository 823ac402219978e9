//! Budgets that leave nothing for the kernel's own warps.
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 8)]
pub fn clear(x: TensorMut<f32, 1>, y: TensorMut<f32, 1>) {
    warp_specialize(
        || x.tile([0], [128]).store(zeros([128])),
        [partition(8).registers(240).run(|| y.tile([0], [128]).store(zeros([128])))],
    );
}

fn main() {}
