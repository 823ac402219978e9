use kiln::prelude::*;

#[kernel(target = sm_80, warps = 4)]
pub fn unaligned(x: Tensor<u32, 1>, out: TensorMut<u32, 1>) {
    let x = x.tile([0], [128]).load();
    let longs = x.cast::<u64>();
    out.tile([0], [128]).store(x.funnel_shl(longs, 3));
}

fn main() {}
