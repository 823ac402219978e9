use kiln::prelude::*;

// Wrong: a column of padding against bank conflicts, `__shared__ float staged[32][33]`; right is `shared::<f32>([32, 32])`: extents are powers of two, and the compiler chooses a layout without conflicts.
#[kernel(target = sm_80, warps = 4, grid = [cdiv(x.dim(0), 32), cdiv(x.dim(1), 32)])]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let (row, column) = (block_id(0) * 32, block_id(1) * 32);
    let staged = shared::<f32>([32, 33]);
    let (i, j) = (arange(0, 32).expand(1), arange(0, 32).expand(0));
    staged.scatter([i, j], x.tile([row, column], [32, 32]).load());
    sync();
    out.tile([column, row], [32, 32]).store(staged.gather([j, i]));
}

fn main() {}
