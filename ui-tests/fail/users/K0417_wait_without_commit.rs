use kiln::prelude::*;

// Wrong: `copy_async_wait(0)` waits for groups, and the copies are in none, because no `cp.async.commit_group` was written; right is `copy_async_commit()` before it, or `copy_async_wait_all()` instead.
#[kernel(target = sm_80, warps = 4, grid = [cdiv(c.dim(0), 128), cdiv(c.dim(1), 128)])]
pub fn wrong(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f16, 2>) {
    let (m, n) = (block_id(0) * 128, block_id(1) * 128);
    let (sa, sb) = (shared::<f16>([128, 32]), shared::<f16>([32, 128]));
    let mut acc = zeros::<f32>([128, 128]);
    for k in range(0, a.dim(1), 32) {
        copy_async(a.tile([m, k], [128, 32]), sa);
        copy_async(b.tile([k, n], [32, 128]), sb);
        copy_async_wait(0);
        sync(); // every thread's part is there
        acc = dot(sa, sb, acc);
        sync(); // nobody reads the tiles any more
    }
    c.tile([m, n], [128, 128]).store(acc.cast::<f16>());
}

fn main() {}
