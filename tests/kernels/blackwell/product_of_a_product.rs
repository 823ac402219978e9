//! A chain of two products, as attention has it: the first one's sums are rounded where they lie and are A of the second, for which the next one waits.
//@ run: eval, emulate
//@ compare: exact
//@ arg q: f16[128, 64] list(1, -1, 0, 2, 1, -1, 0)
//@ arg k: f16[3 * 64, 64] list(-1, 1, 0, 0, 1, 0, 0)
//@ arg v: f16[3 * 64, 32] list(1, 0, 0, -1, 2)
//@ arg n: i32 scalar 3
//@ arg c: f32[128, 32] poison
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn product_of_a_product(
    q: Tensor<f16, 2>,
    #[block(64, 64)] k: TensorMap<f16, 2>,
    #[block(64, 32)] v: TensorMap<f16, 2>,
    n: i32,
    c: TensorMut<f32, 2>,
) {
    let sq = shared::<f16>([128, 64]);
    let (sk, sv) = (shared::<f16>([2, 64, 64]), shared::<f16>([2, 64, 32]));
    let s = tmem::<f32>([128, 64]);
    let p = s.view::<f16>([128, 64]);
    let o = tmem::<f32>([128, 32]);
    let (full, empty) = (barriers(2, 1), barriers(2, 1));
    let (qready, sfull, pfull, pv) = (barrier(1), barrier(1), barrier(1), barrier(1));
    warp_specialize(
        || {
            sq.store(q.tile([0, 0], [128, 64]).load());
            qready.arrive();
            for j in 0..n {
                sfull.wait(j & 1);
                let scores = s.load();
                if j > 0 {
                    pv.wait((j - 1) & 1);
                    o.store(o.load() * 1.0);
                }
                p.store(scores.cast::<f16>());
                pfull.arrive();
            }
            pv.wait((n - 1) & 1);
            c.tile([0, 0], [128, 32]).store(o.load());
        },
        [
            partition(1).run(|| {
                qready.wait(0);
                for j in 0..n {
                    let slot = j & 1;
                    full[slot].wait(j / 2 % 2);
                    if j > 0 {
                        pv.wait((j - 1) & 1);
                    }
                    tcgen05::mma(sq, sk[slot].t(), s).accumulate(false);
                    tcgen05::commit(sfull);
                    pfull.wait(j & 1);
                    tcgen05::mma(p, sv[slot], o).accumulate(j > 0);
                    tcgen05::commit(empty[slot]);
                    tcgen05::commit(pv);
                }
            }),
            partition(1).run(|| {
                for j in 0..n {
                    let slot = j & 1;
                    empty[slot].wait((j / 2 % 2) ^ 1);
                    full[slot].expect(k.block_bytes() + v.block_bytes());
                    tma::load(k, [64 * j, 0], full[slot], sk[slot]);
                    tma::load(v, [64 * j, 0], full[slot], sv[slot]);
                }
            }),
        ],
    );
}
