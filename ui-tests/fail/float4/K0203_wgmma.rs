use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn kernel() {
    let (a, b) = (shared::<e4m3>([64, 128]), shared::<e2m1x2>([64, 64]));
    let acc = wgmma::mma(a, b.t(), zeros::<f32>([64, 64]));
    wgmma::wait(0, acc);
}

fn main() {}
