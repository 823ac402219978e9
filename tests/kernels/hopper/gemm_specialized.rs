//! A matrix product whose warps have roles: one copies tiles through TMA, two warpgroups multiply, and store through TMA.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: bf16[M, K] list(1, -2, 3, 0, 2, -1, 1, -3, 1, 0, -1)
//@ arg b: bf16[K, N] list(-1, 2, 0, 1, 1, -2, 1)
//@ arg c: f32[M, N] poison
//@ expect c: sum(n, 0, K, a(i, n) * b(n, j))
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 8, grid = 2,
         instances((M, N, K) = [(136, 72, 192), (264, 40, 192)], BN = [64], STAGES = [3]))]
pub fn gemm_specialized<const M: i32, const N: i32, const K: i32, const BN: i32, const STAGES: i32>(
    #[block(128, 64)] a: TensorMap<bf16, 2>,
    #[block(64, BN)] b: TensorMap<bf16, 2>,
    #[block(128, BN)] c: TensorMapMut<f32, 2>,
) {
    struct Ring {
        slot: i32,
        phase: i32,
    }
    impl Ring {
        fn advance(&mut self, len: i32) {
            self.slot += 1;
            if self.slot == len {
                self.slot = 0;
                self.phase ^= 1;
            }
        }
    }
    let (sa, sb) = (shared::<bf16>([STAGES, 128, 64]), shared::<bf16>([STAGES, 64, BN]));
    let staged = shared::<f32>([128, BN]);
    let (full, empty) = (barriers(STAGES, 1), barriers(STAGES, 1));
    let (rows, columns) = (cdiv(c.dim(0), 128), cdiv(c.dim(1), BN));
    let depth = a.dim(1);

    let load = || {
        let mut ring = Ring { slot: 0, phase: 1 };
        for tile in range(block_id(0), rows * columns, num_blocks(0)) {
            let (m, n) = (tile / columns * 128, tile % columns * BN);
            for k in range(0, depth, 64) {
                empty[ring.slot].wait(ring.phase);
                full[ring.slot].expect(a.block_bytes() + b.block_bytes());
                tma::load(a, [m, k], full[ring.slot], sa[ring.slot]);
                tma::load(b, [k, n], full[ring.slot], sb[ring.slot]);
                ring.advance(STAGES);
            }
        }
    };
    let multiply = || {
        let mut ring = Ring { slot: 0, phase: 0 };
        for tile in range(block_id(0), rows * columns, num_blocks(0)) {
            let (m, n) = (tile / columns * 128, tile % columns * BN);
            let mut acc = zeros::<f32>([128, BN]);
            let mut last = 0;
            for k in range(0, depth, 64) {
                full[ring.slot].wait(ring.phase);
                acc = wgmma::mma(sa[ring.slot], sb[ring.slot], acc);
                acc = wgmma::wait(1, acc);
                if k > 0 {
                    empty[last].arrive();
                }
                last = ring.slot;
                ring.advance(STAGES);
            }
            acc = wgmma::wait(0, acc);
            empty[last].arrive();
            tma::store_wait(0);
            staged.store(acc);
            fence_async();
            tma::store(c, [m, n], staged);
        }
        tma::store_wait(0);
    };
    warp_specialize(multiply, [partition(1).registers(40).run(load)]);
}
