use kiln::prelude::*;

#[kernel(target = sm_100f, warps = 4, grid = 1)]
pub fn wrong(out: TensorMut<f32, 2>) {
    let acc = tcgen05::alloc::<f32>(128);
    out.tile([0, 0], [128, 128]).store(acc.load());
}

fn main() {}
