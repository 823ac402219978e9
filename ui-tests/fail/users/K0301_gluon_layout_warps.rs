use kiln::prelude::*;

// Wrong: `WRITE` arranges four warps, from when the kernel had `warps = 4`, and the kernel has eight; right is `blocked([1, 4], [2, 16], [8, 1], [1, 0])`.
#[kernel(target = sm_80, warps = 8, grid = [cdiv(x.dim(0), 64), cdiv(x.dim(1), 64)])]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    const READ: Layout = blocked([1, 4], [2, 16], [8, 1], [1, 0]);
    const WRITE: Layout = blocked([1, 4], [2, 16], [4, 1], [1, 0]);
    let (row, column) = (block_id(0) * 64, block_id(1) * 64);
    let tile = x.tile([row, column], [64, 64]).load().to_layout(READ);
    let turned = tile.t().to_layout(WRITE);
    out.tile([column, row], [64, 64]).store(turned);
}

fn main() {}
