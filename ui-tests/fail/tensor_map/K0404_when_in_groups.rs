use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn fetch(x: Tensor<f16, 2>, n: i32) {
    let tile = shared::<f16>([64, 64]);
    copy_async(x.tile([0, 0], [64, 64]), tile).when(n > 0);
    copy_async_wait_all();
}

fn main() {}
