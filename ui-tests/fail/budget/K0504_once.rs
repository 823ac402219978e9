use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1)]
pub fn wrong(x: Tensor<u8, 2>, y: TensorMut<f32, 2>) {
    // A window alone is in no register.
    let bytes = shared::<u8>([256, 256]);
    copy_async(x.tile([0, 0], [256, 256]), bytes);
    copy_async_wait_all();
    sync();
    let tile = bytes.load().cast::<f32>();
    let sum = zeros::<f32>([256, 256]) + tile;
    y.tile([0, 0], [256, 256]).store(sum + full::<f32>([256, 256], 1.0));
}

fn main() {}
