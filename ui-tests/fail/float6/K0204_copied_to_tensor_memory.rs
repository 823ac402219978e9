use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
fn held(#[block(128, 8)] x: TensorMap<e2m3x16, 2>, y: TensorMut<i32, 1>) {
    let (staged, filled) = (shared::<e2m3x16>([128, 8]), barrier(1));
    let held = tmem::<e2m3x16>([128, 8]);
    filled.expect(staged.bytes());
    tma::load(x, [0, 0], filled, staged);
    filled.wait(0);
    tcgen05::copy(staged, held);
    tcgen05::commit(filled);
    filled.wait(1);
    y.tile([0], [128]).store(arange(0, 128));
}

fn main() {}
