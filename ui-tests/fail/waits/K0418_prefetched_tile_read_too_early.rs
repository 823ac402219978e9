use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn sums(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let buf = shared::<f32>([2, 64, 64]);
    let mut total = zeros::<f32>([64]);
    copy_async(x.tile([0, 0], [64, 64]), buf[0]);
    copy_async_commit();
    for k in range(0, 8, 1) {
        copy_async(x.tile([(k + 1) * 64, 0], [64, 64]), buf[(k + 1) % 2]);
        copy_async_commit();
        sync();
        total = total + buf[k % 2].load().sum(1);
        sync();
    }
    out.tile([0], [64]).store(total);
}

fn main() {}
