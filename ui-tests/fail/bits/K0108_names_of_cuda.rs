use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn counts(x: Tensor<u32, 1>, out: TensorMut<u32, 1>) {
    let x = x.tile([0], [128]).load();
    out.tile([0], [128]).store(x.popc() + x.clz() + x.ffs() + x.brev() + x.umulhi(x));
}

fn main() {}
