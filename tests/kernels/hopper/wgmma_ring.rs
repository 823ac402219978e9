//! A ring of tiles that one warp fills by tensor map while two warpgroups multiply, with one product under way.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: bf16[M, K] list(1, -2, 3, 0, 2, -1, 1, -3, 1, 0, -1)
//@ arg b: bf16[K, N] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f32[M, N] poison
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 8, grid = [cdiv(c.dim(0), 128), cdiv(c.dim(1), BN)],
         instances((M, N, K, BN) = [(136, 72, 512, 64), (128, 136, 448, 128)], STAGES = [3]))]
pub fn wgmma_ring<const M: i32, const N: i32, const K: i32, const BN: i32, const STAGES: i32>(
    #[block(128, 64)] a: TensorMap<bf16, 2>,
    #[block(64, BN)] b: TensorMap<bf16, 2>,
    c: TensorMut<f32, 2>,
) {
    let (m, n) = (block_id(0) * 128, block_id(1) * BN);
    let (sa, sb) = (shared::<bf16>([STAGES, 128, 64]), shared::<bf16>([STAGES, 64, BN]));
    let full = barriers(STAGES, 1);
    let turns = cdiv(a.dim(1), 64);
    for stage in unroll(0..STAGES - 1) {
        if stage < turns {
            full[stage].expect(a.block_bytes() + b.block_bytes());
            tma::load(a, [m, stage * 64], full[stage], sa[stage]);
            tma::load(b, [stage * 64, n], full[stage], sb[stage]);
        }
    }
    let mut acc = zeros::<f32>([128, BN]);
    let (mut slot, mut phase) = (0, 0);
    for turn in 0..turns {
        full[slot].wait(phase);
        acc = wgmma::mma(sa[slot], sb[slot], acc);
        acc = wgmma::wait(1, acc);
        sync(); // the product before this one is done in all warps: its slot is free
        let next = turn + STAGES - 1;
        if next < turns {
            let free = next % STAGES;
            full[free].expect(a.block_bytes() + b.block_bytes());
            tma::load(a, [m, next * 64], full[free], sa[free]);
            tma::load(b, [next * 64, n], full[free], sb[free]);
        }
        slot += 1;
        if slot == STAGES {
            slot = 0;
            phase ^= 1;
        }
    }
    acc = wgmma::wait(0, acc);
    c.tile([m, n], [128, BN]).store(acc);
}
