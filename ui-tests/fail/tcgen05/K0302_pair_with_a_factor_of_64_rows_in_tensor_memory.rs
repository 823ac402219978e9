use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, cluster = 2)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let b = shared::<f16>([64, 64]);
    let (acc, done) = (tmem::<f32>([64, 128]), barrier(1));
    let left = tmem::<f16>([64, 64]);
    tcgen05::mma_pair(left, b, acc).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [64, 128]).store(acc.load());
}

fn main() {}
