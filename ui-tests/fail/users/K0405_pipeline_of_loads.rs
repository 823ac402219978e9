use kiln::prelude::*;

// Wrong: `pipeline(.., 3)` is used like `tl.range(.., num_stages=3)`, over loads to registers; right is shared memory that each iteration first fills: `copy_async(a.tile(..), sa); copy_async(b.tile(..), sb); acc = dot(sa, sb, acc)`.
#[kernel(target = sm_80, warps = 4, grid = [cdiv(c.dim(0), 128), cdiv(c.dim(1), 128)])]
pub fn wrong(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f16, 2>) {
    let (m, n) = (block_id(0) * 128, block_id(1) * 128);
    let mut acc = zeros::<f32>([128, 128]);
    for k in pipeline(range(0, a.dim(1), 32), 3) {
        let left = a.tile([m, k], [128, 32]).load();
        let right = b.tile([k, n], [32, 128]).load();
        acc = dot(left, right, acc);
    }
    c.tile([m, n], [128, 128]).store(acc.cast::<f16>());
}

fn main() {}
