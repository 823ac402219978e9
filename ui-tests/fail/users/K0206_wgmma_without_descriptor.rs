use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn wrong(out: TensorMut<f32, 2>) {
    let sa = shared::<bf16>([64, 64]);
    let sb = shared::<bf16>([64, 64]);
    let mut acc = zeros::<f32>([64, 64]);
    wgmma::mma(acc, sa, sb);
    acc = wgmma::wait(0, acc);
    out.tile([0, 0], [64, 64]).store(acc);
}

fn main() {}
