use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn through_shared(x: Tensor<f16, 2>, y: TensorMut<f16, 2>) {
    let s = shared::<f16>([64, 64]);
    copy_async(x.tile([0, 0], [64, 64]), s);
    copy_async_wait(0);
    sync();
    y.tile([0, 0], [64, 64]).store(s.load());
}

fn main() {}
