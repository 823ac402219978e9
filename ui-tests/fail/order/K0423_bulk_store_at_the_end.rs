use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn bulk_stored(x: Tensor<f32, 1>, y: Ptr<f32>) {
    let staged = shared::<f32>([256]);
    staged.store(x.tile([0], [256]).load());
    fence_async();
    bulk::store(y, staged);
}

fn main() {}
