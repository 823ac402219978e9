// Triton: A product with `num_stages = 3`. In `pipeline` an iteration has to begin with `copy_async` to shared memory; these are loads into registers.
// RIGHT: copy_async(a.tile([m, k], [128, 32]), sa); copy_async(b.tile([k, n], [32, 128]), sb); acc = dot(sa, sb, acc);
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 8, grid = [cdiv(c.dim(0), 128), cdiv(c.dim(1), 128)])]
pub fn matmul(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f16, 2>) {
    let (m, n) = (block_id(0) * 128, block_id(1) * 128);
    let mut acc = zeros::<f32>([128, 128]);
    for k in pipeline(range(0, a.dim(1), 32), 3) {
        let x = a.tile([m, k], [128, 32]).load();
        let y = b.tile([k, n], [32, 128]).load();
        acc = dot(x, y, acc);
    }
    c.tile([m, n], [128, 128]).store(acc.cast::<f16>());
}

fn main() {}
