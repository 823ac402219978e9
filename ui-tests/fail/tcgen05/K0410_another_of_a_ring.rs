use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn kernel(c: TensorMut<f32, 2>) {
    let (a, b) = (shared::<f16>([128, 64]), shared::<f16>([64, 64]));
    let accs = tmem::<f32>([2, 128, 64]);
    let done = barriers(2, 1);
    for at in unroll(0..2) {
        tcgen05::mma(a, b.t(), accs[at]).accumulate(false);
        tcgen05::commit(done[at]);
    }
    done[0].wait(0);
    c.tile([0, 0], [128, 64]).store(accs[1].load());
    done[1].wait(0);
}

fn main() {}
