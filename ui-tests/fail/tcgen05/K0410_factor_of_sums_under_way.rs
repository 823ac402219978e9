use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let (a, b) = (shared::<f16>([128, 64]), shared::<f16>([64, 64]));
    let (scores, out) = (tmem::<f16>([128, 64]), tmem::<f32>([128, 64]));
    let weights = scores.view::<f16>([128, 128]).tile([0, 0], [128, 64]);
    let done = barrier(1);
    tcgen05::mma(a, b, scores).accumulate(false);
    tcgen05::mma(weights, b, out).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [128, 64]).store(out.load());
}

fn main() {}
