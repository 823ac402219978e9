use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let s = shared::<f32>([64, 64]);
    copy_async(s, x.tile([0, 0], [64, 64]));
    copy_async_commit();
    copy_async_wait(0);
    sync();
    out.tile([0, 0], [64, 64]).store(s.load());
}

fn main() {}
