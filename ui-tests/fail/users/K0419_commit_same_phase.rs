use kiln::prelude::*;

// Wrong: the barrier of the loads is used for the commit too, and waited on with parity 0 again, the phase of the loads; right is `bar.wait(1)` after the commit.
#[kernel(target = sm_100a, warps = 4, grid = [cdiv(q.dim(0), 128), cdiv(k.dim(0), 128)])]
pub fn wrong(
    #[block(128, 64)] q: TensorMap<bf16, 2>,
    #[block(128, 64)] k: TensorMap<bf16, 2>,
    scale: f32,
    scores: TensorMut<f32, 2>,
) {
    let (m, n) = (block_id(0) * 128, block_id(1) * 128);
    let (qs, ks) = (shared::<bf16>([128, 64]), shared::<bf16>([128, 64]));
    let acc = tmem::<f32>([128, 128]);
    let bar = barrier(1);
    bar.expect(q.block_bytes() + k.block_bytes());
    tma::load(q, [m, 0], bar, qs);
    tma::load(k, [n, 0], bar, ks);
    bar.wait(0);
    tcgen05::mma(qs, ks.t(), acc).accumulate(false);
    tcgen05::commit(bar);
    bar.wait(0);
    scores.tile([m, n], [128, 128]).store(acc.load() * scale);
}

fn main() {}
