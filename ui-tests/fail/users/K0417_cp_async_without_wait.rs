// CUDA: A product with cp.async. After the commit there is only a barrier: the wait for the group is missing.
// RIGHT: copy_async_commit(); copy_async_wait(0); sync();
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = [cdiv(c.dim(0), 64), cdiv(c.dim(1), 64)])]
pub fn matmul(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
    let (m, n) = (block_id(0) * 64, block_id(1) * 64);
    let (sa, sb) = (shared::<f16>([64, 32]), shared::<f16>([32, 64]));
    let mut acc = zeros::<f32>([64, 64]);
    for k in range(0, a.dim(1), 32) {
        copy_async(a.tile([m, k], [64, 32]), sa);
        copy_async(b.tile([k, n], [32, 64]), sb);
        copy_async_commit();
        sync();
        acc = dot(sa.load(), sb.load(), acc);
        sync();
    }
    c.tile([m, n], [64, 64]).store(acc);
}

fn main() {}
