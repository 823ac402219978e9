//! A ring that a partition fills with gathered rows, while the others read it; conditions, and a map that fills with NaN.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: f32[50, 256] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4)
//@ arg rows: i32[16] list(3, 1, 49, 50, 0, 7, 7, -1, 1000, 38, 2, 21, 5, 4, 3, 2)
//@ arg out: f32[16, 256] poison
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn gather_ring(
    #[block(1, 32, fill = nan)] x: TensorMap<f32, 2>,
    rows: Tensor<i32, 1>,
    out: TensorMut<f32, 2>,
) {
    let ring = shared::<f32>([2, 16, 32]);
    let (full, empty) = (barriers(2, 1), barriers(2, 1));
    warp_specialize(
        || {
            for k in 0..8 {
                let (slot, phase) = (k % 2, (k / 2) % 2);
                full[slot].wait(phase);
                let tile = ring[slot].load();
                empty[slot].arrive();
                let known = select(tile.ne(tile), 77.0, tile);
                out.tile([0, 32 * k], [16, 32]).store(known);
            }
        },
        [partition(2).run(|| {
            let rows = rows.tile([0], [16]).load();
            for k in 0..8 {
                let (slot, phase) = (k % 2, (k / 2) % 2);
                empty[slot].wait(phase ^ 1);
                full[slot].expect(16 * x.block_bytes());
                tma::gather(x, rows, 32 * k, full[slot], ring[slot]).when(k < 100).evict_first();
            }
        })],
    );
}
