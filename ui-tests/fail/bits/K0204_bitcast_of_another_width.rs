use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn words(x: Tensor<bf16, 1>, out: TensorMut<u32, 1>) {
    let x = x.tile([0], [128]).load();
    out.tile([0], [128]).store(x.bitcast::<u32>());
}

fn main() {}
