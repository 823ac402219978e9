use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
fn shallow(#[block(128, 4)] x: TensorMap<e2m3x16, 2>, y: Tensor<e4m3, 2>, z: TensorMut<f32, 2>) {
    let (left, right) = (shared::<e2m3x16>([128, 4]), shared::<e4m3>([16, 64]));
    let (acc, filled) = (tmem::<f32>([128, 16]), barrier(1));
    filled.expect(left.bytes());
    tma::load(x, [0, 0], filled, left);
    right.store(y.tile([0, 0], [16, 64]).load());
    filled.wait(0);
    tcgen05::mma(left, right.t(), acc).accumulate(false);
    tcgen05::commit(filled);
    filled.wait(1);
    z.tile([0, 0], [128, 16]).store(acc.load());
}

fn main() {}
