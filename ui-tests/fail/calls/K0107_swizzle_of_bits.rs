use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn stage(x: Tensor<bf16, 2>, y: TensorMut<bf16, 2>) {
    let staged = shared::<bf16>([64, 32]).with_layout(swizzle(2, 4, 3));
    staged.store(x.tile([0, 0], [64, 32]).load());
    sync();
    y.tile([0, 0], [64, 32]).store(staged.load());
}

fn main() {}
