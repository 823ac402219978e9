use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn copy(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    copy_async(x.tile([0, 0], [64, 64]), out.tile([0, 0], [64, 64]));
    copy_async_wait_all();
}

fn main() {}
