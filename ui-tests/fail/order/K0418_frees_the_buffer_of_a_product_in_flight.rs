use kiln::{Ring, prelude::*};

/// One block a tile of 128 × 128. One warp copies, two warpgroups multiply, with a product in flight.
#[kernel(target = sm_90a, warps = 8, grid = [cdiv(c.dim(0), 128), cdiv(c.dim(1), 128)])]
pub fn matmul(
    #[block(128, 64)] a: TensorMap<bf16, 2>,
    #[block(64, 128)] b: TensorMap<bf16, 2>,
    c: TensorMut<bf16, 2>,
) {
    let (m, n) = (block_id(0) * 128, block_id(1) * 128);
    let steps = cdiv(a.dim(1), 64);
    let (a_bufs, b_bufs) = (shared::<bf16>([4, 128, 64]), shared::<bf16>([4, 64, 128]));
    let (full, empty) = (barriers(4, 1), barriers(4, 1));
    warp_specialize(
        || {
            let mut ring = Ring::reader(4);
            let mut acc = zeros::<f32>([128, 128]);
            for _ in 0..steps {
                full[ring.slot].wait(ring.phase);
                acc = wgmma::mma(a_bufs[ring.slot], b_bufs[ring.slot], acc);
                acc = wgmma::wait(1, acc);
                empty[ring.slot].arrive();
                ring.advance();
            }
            acc = wgmma::wait(0, acc);
            c.tile([m, n], [128, 128]).store(acc.cast::<bf16>());
        },
        [partition(1).registers(40).run(|| {
            let mut ring = Ring::writer(4);
            for step in 0..steps {
                empty[ring.slot].wait(ring.phase);
                full[ring.slot].expect(a.block_bytes() + b.block_bytes());
                tma::load(a, [m, step * 64], full[ring.slot], a_bufs[ring.slot]);
                tma::load(b, [step * 64, n], full[ring.slot], b_bufs[ring.slot]);
                ring.advance();
            }
        })],
    );
}

fn main() {}
