use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4)]
pub fn flips_too_often(#[block(1, 64)] x: TensorMap<f32, 2>, y: TensorMut<f32, 2>) {
    let (rows, full) = (shared::<f32>([2, 1, 64]), barriers(2, 1));
    let mut phase = 0;
    for at in 0..x.dim(0) {
        full[at % 2].expect(x.block_bytes());
        tma::load(x, [at, 0], full[at % 2], rows[at % 2]);
        full[at % 2].wait(phase);
        y.tile([at, 0], [1, 64]).store(rows[at % 2].load());
        phase ^= 1;
    }
}

fn main() {}
