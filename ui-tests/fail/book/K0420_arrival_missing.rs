use kiln::{Ring, prelude::*};

#[kernel(target = sm_90a, warps = 4, grid = 1)]
pub fn column_sums(#[block(1, 64)] x: TensorMap<f32, 2>, out: TensorMut<f32, 1>) {
    let rows = shared::<f32>([4, 1, 64]);
    let (full, empty) = (barriers(4, 1), barriers(4, 1));
    warp_specialize(
        || {
            let mut ring = Ring::reader(4);
            let mut sum = zeros::<f32>([64]);
            for _ in 0..x.dim(0) {
                full[ring.slot].wait(ring.phase);
                sum += rows[ring.slot].load().sum(0);
                ring.advance();
            }
            out.tile([0], [64]).store(sum);
        },
        [partition(1).run(|| {
            let mut ring = Ring::writer(4);
            for row in 0..x.dim(0) {
                empty[ring.slot].wait(ring.phase);
                full[ring.slot].expect(x.block_bytes());
                tma::load(x, [row, 0], full[ring.slot], rows[ring.slot]);
                ring.advance();
            }
        })],
    );
}

fn main() {}
