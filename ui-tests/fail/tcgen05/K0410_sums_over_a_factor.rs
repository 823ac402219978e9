use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let b = shared::<f16>([64, 64]);
    let (a, narrow) = (shared::<f16>([128, 64]), shared::<f16>([64, 32]));
    let (held, acc) = (tmem::<f16>([128, 64]), tmem::<f32>([128, 64]));
    let next = held.view::<f32>([128, 32]);
    let done = barrier(1);
    held.store(zeros([128, 64]));
    tcgen05::mma(held, b, acc).accumulate(false);
    tcgen05::mma(a, narrow, next).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [128, 64]).store(acc.load());
}

fn main() {}
