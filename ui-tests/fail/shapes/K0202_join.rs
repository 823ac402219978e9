use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn wrong(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let wide = x.tile([0, 0], [16, 64]).load();
    let narrow = x.tile([0, 0], [16, 32]).load();
    out.tile([0, 0], [16, 128]).store(join(wide, narrow).reshape([16, 128]));
}

fn main() {}
