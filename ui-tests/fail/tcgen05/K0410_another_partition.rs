use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let (a, b) = (shared::<f16>([128, 64]), shared::<f16>([64, 64]));
    let acc = tmem::<f32>([128, 64]);
    let (ready, done) = (barrier(1), barrier(1));
    warp_specialize(
        || {
            ready.arrive();
            c.tile([0, 0], [128, 64]).store(acc.load());
        },
        [partition(1).run(|| {
            ready.wait(0);
            tcgen05::mma(a, b, acc).accumulate(false);
            tcgen05::commit(done);
            done.wait(0);
        })],
    );
}

fn main() {}
