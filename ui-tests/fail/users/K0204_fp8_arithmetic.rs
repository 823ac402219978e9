use kiln::prelude::*;

// Wrong: FP8 numbers are multiplied by a tile of `f32` and converted afterwards; right is `weights.cast::<f32>() * scale`: `e4m3` has no arithmetic, and nothing converts by itself.
#[kernel(target = sm_90a, warps = 4, grid = [cdiv(w.dim(0), 32), cdiv(w.dim(1), 128)])]
pub fn wrong(w: Tensor<e4m3, 2>, scales: Tensor<f32, 1>, out: TensorMut<bf16, 2>) {
    let (row, column) = (block_id(0) * 32, block_id(1) * 128);
    let weights = w.tile([row, column], [32, 128]).load();
    let scale = scales.tile([row], [32]).load().expand(1);
    let restored = weights * scale;
    out.tile([row, column], [32, 128]).store(restored.cast::<bf16>());
}

fn main() {}
