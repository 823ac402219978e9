use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4)]
pub fn announced_by_an_arrival(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
    let (sa, sb) = (shared::<f16>([128, 64]), shared::<f16>([64, 64]));
    let acc = tmem::<f32>([128, 64]);
    let (full, done, read) = (barrier(1), barrier(1), barrier(1));
    warp_specialize(
        || {
            sa.store(a.tile([0, 0], [128, 64]).load());
            sb.store(b.tile([0, 0], [64, 64]).load());
            full.arrive();
            done.wait(0);
            c.tile([0, 0], [128, 64]).store(acc.load());
        },
        [partition(1).run(|| {
            full.wait(0);
            tcgen05::mma(sa, sb, acc).accumulate(false);
            tcgen05::commit(read);
            done.arrive();
            read.wait(0);
        })],
    );
}

fn main() {}
