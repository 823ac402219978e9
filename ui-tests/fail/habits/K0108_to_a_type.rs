use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn to(a: Tensor<f32, 1>, out: TensorMut<bf16, 1>) {
    let p = a.tile([0], [64]).load();
    out.tile([0], [64]).store(p.to::<bf16>());
}

fn main() {}
