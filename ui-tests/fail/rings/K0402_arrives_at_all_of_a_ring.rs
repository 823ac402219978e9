use kiln::{Ring, prelude::*};

#[kernel(target = sm_90a, warps = 4, grid = cdiv(y.dim(0), 64))]
pub fn doubled(#[block(64)] x: TensorMap<f32, 1>, y: TensorMut<f32, 1>) {
    let bufs = shared::<f32>([2, 64]);
    let (full, empty) = (barriers(2, 1), barriers(2, 1));
    warp_specialize(
        || {
            let mut ring = Ring::reader(2);
            for at in 0..4 {
                full[ring.slot].wait(ring.phase);
                y.tile([at * 64], [64]).store(bufs[ring.slot].load() * 2.0);
                empty.arrive();
                ring.advance();
            }
        },
        [partition(1).run(|| {
            let mut ring = Ring::writer(2);
            for at in 0..4 {
                empty[ring.slot].wait(ring.phase);
                full[ring.slot].expect(x.block_bytes());
                tma::load(x, [at * 64], full[ring.slot], bufs[ring.slot]);
                ring.advance();
            }
        })],
    );
}

fn main() {}
