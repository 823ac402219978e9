use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(x: Ptr<f16>, c: TensorMut<f32, 2>, steps: i32) {
    let (a, b) = (shared::<f16>([128, 64]), shared::<f16>([64, 64]));
    let (acc, full, done) = (tmem::<f32>([128, 64]), barrier(1), barrier(1));
    for step in 0..steps {
        full.expect(a.bytes());
        bulk::load(x + 8192 * step, full, a);
        full.wait(step % 2);
        tcgen05::mma(a, b, acc).accumulate(step > 0);
        tcgen05::commit(done);
    }
    done.wait(0);
    c.tile([0, 0], [128, 64]).store(acc.load());
}

fn main() {}
