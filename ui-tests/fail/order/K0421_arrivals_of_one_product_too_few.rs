use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn two_commits(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
    let (sa, sb) = (shared::<f16>([128, 64]), shared::<f16>([64, 64]));
    let (acc, done) = (tmem::<f32>([128, 64]), barrier(2));
    sa.store(a.tile([0, 0], [128, 64]).load());
    sb.store(b.tile([0, 0], [64, 64]).load());
    tcgen05::mma(sa, sb, acc).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [128, 64]).store(acc.load());
}

fn main() {}
