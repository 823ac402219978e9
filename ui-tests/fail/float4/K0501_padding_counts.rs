use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(x: Tensor<e4m3, 2>) {
    let (a, b) = (shared::<e4m3>([128, 256]), shared::<e2m1x2>([7, 128, 128]));
    let (acc, done) = (tmem::<f32>([128, 128]), barrier(1));
    a.store(x.tile([0, 0], [128, 256]).load());
    tcgen05::mma(a, b[0].t(), acc).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
}

fn main() {}
