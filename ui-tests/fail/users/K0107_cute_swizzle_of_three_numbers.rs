// CUDA: A transpose through swizzled shared memory. CuTe's `Swizzle<3, 3, 3>` is written as `swizzle(3, 3, 3)`: here `swizzle` takes its span in bytes.
// RIGHT: let tile = shared::<f16>([64, 64]).with_layout(swizzle(128));
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(x.dim(0), 64), cdiv(x.dim(1), 64)])]
pub fn transpose(x: Tensor<f16, 2>, out: TensorMut<f16, 2>) {
    let (row, column) = (block_id(0) * 64, block_id(1) * 64);
    let tile = shared::<f16>([64, 64]).with_layout(swizzle(3, 3, 3));
    tile.store(x.tile([row, column], [64, 64]).load());
    sync();
    out.tile([column, row], [64, 64]).store(tile.t().load());
}

fn main() {}
