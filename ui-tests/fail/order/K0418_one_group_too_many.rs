use kiln::prelude::*;

/// The sums of the columns: three buffers, with copies two steps ahead, by hand.
#[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(1), 64))]
pub fn column_sums(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let column = block_id(0) * 64;
    let bufs = shared::<f32>([3, 16, 64]);
    for i in unroll(0..2) {
        copy_async(x.tile([i * 16, column], [16, 64]), bufs[i]);
        copy_async_commit();
    }
    let mut sum = zeros::<f32>([64]);
    for i in 0..cdiv(x.dim(0), 16) {
        copy_async_wait(2);
        sync();
        copy_async(x.tile([(i + 2) * 16, column], [16, 64]), bufs[(i + 2) % 3]);
        copy_async_commit();
        sum += bufs[i % 3].load().sum(0);
    }
    copy_async_wait_all();
    out.tile([column], [64]).store(sum);
}

fn main() {}
