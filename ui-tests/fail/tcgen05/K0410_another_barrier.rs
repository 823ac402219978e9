use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>, #[block(128, 64)] m: TensorMap<f16, 2>) {
    let (a, b) = (shared::<f16>([128, 64]), shared::<f16>([64, 64]));
    let acc = tmem::<f32>([128, 64]);
    let (full, done) = (barrier(1), barrier(1));
    tcgen05::mma(a, b.t(), acc).accumulate(false);
    tcgen05::commit(done);
    full.wait(0);
    c.tile([0, 0], [128, 64]).store(acc.load());
    full.expect_copies();
    tma::load(m, [0, 0], full, a);
}

fn main() {}
