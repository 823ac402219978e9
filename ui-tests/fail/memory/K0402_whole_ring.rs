use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn copy(x: Tensor<f32, 2>, y: TensorMut<f32, 2>) {
    let bufs = shared::<f32>([2, 64, 64]);
    copy_async(x.tile([0, 0], [64, 64]), bufs[0]);
    copy_async_wait_all();
    sync();
    y.tile([0, 0], [64, 64]).store(bufs.load());
}

fn main() {}
