// Triton: Gluon: a copy with a pinned blocked layout. The layout has 4 * 1 warps, the kernel 8.
// RIGHT: const ROWS: Layout = blocked([1, 8], [4, 8], [8, 1], [1, 0]);
use kiln::prelude::*;

const ROWS: Layout = blocked([1, 8], [4, 8], [4, 1], [1, 0]);

#[kernel(target = sm_80, warps = 8, grid = [cdiv(x.dim(0), 64), cdiv(x.dim(1), 64)])]
pub fn scaled_copy(x: Tensor<f16, 2>, out: TensorMut<f16, 2>) {
    let at = [block_id(0) * 64, block_id(1) * 64];
    let v = x.tile(at, [64, 64]).load().to_layout(ROWS).cast::<f32>();
    let y = v * 0.5;
    out.tile(at, [64, 64]).store(y.cast::<f16>());
}

fn main() {}
