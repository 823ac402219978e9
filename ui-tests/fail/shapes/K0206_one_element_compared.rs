use kiln::prelude::*;

/// A flag.
#[kernel(target = sm_80, warps = 4, grid = flags.dim(0))]
pub fn skipped(flags: Tensor<i32, 1>, out: TensorMut<f32, 1>) {
    let flag = flags.tile([block_id(0)], [1]);
    if flag.load() == 0 {
        out.tile([block_id(0) * 128], [128]).store(zeros([128]));
    }
}

/// A flag on the right.
#[kernel(target = sm_80, warps = 4, grid = flags.dim(0))]
pub fn turned(flags: Tensor<i32, 1>, out: TensorMut<f32, 1>) {
    let flag = flags.tile([block_id(0)], [1]).load();
    if 0 < flag {
        out.tile([block_id(0) * 128], [128]).store(zeros([128]));
    }
}

/// A mask of one element is a mask: no branch asks for it.
#[kernel(target = sm_80, warps = 4, grid = x.dim(0))]
pub fn divided(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let total = x.tile([block_id(0), 0], [1, 128]).load().sum(1);
    out.tile([block_id(0)], [1]).store(select(total == 0.0, 1.0, total));
}

fn main() {}
