use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4, grid = 1)]
pub fn wrong(x: Tensor<f16, 2>, out: TensorMut<f16, 2>) {
    let s = shared::<f16>([64, 64]).with_layout(swizzle(3, 4, 3));
    s.store(x.tile([0, 0], [64, 64]).load());
    sync();
    out.tile([0, 0], [64, 64]).store(s.load());
}

fn main() {}
