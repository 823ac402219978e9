use kiln::{Ring, prelude::*};

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn total(#[block(64)] x: TensorMap<f32, 1>, out: TensorMut<f32, 1>) {
    let bufs = shared::<f32>([4, 64]);
    let (full, empty) = (barriers(4, 1), barriers(4, 1));
    warp_specialize(
        || {
            let mut ring = Ring::reader(4);
            let mut sum = zeros::<f32>([64]);
            for _ in 0..cdiv(x.dim(0), 64) {
                for _ in 0..2 {
                    sum += bufs[ring.slot].load();
                }
                empty[ring.slot].arrive();
                ring.advance();
            }
            out.tile([0], [64]).store(sum);
        },
        [partition(1).run(|| {
            let mut ring = Ring::writer(4);
            for at in range(0, x.dim(0), 64) {
                empty[ring.slot].wait(ring.phase);
                full[ring.slot].expect(x.block_bytes());
                tma::load(x, [at], full[ring.slot], bufs[ring.slot]);
                ring.advance();
            }
        })],
    );
}

fn main() {}
