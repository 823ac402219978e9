use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1)]
pub fn fence(x: TensorMut<f32, 1>) {
    x.tile([0], [32]).store(zeros([32]));
    ptx!("fence.proxy.async;");
}

fn main() {}
