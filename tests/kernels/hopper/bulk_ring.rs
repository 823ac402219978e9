//! A stream of rows through a ring of shared buffers: each is copied in while the ones before it are used, and copied out as a whole.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: ptr f32[6400] uniform(-8, 8)
//@ arg y: ptr f32[6400] poison
//@ arg n: i32 scalar 25
//@ expect y: x(i) * 2 + 1
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 4, grid = [2])]
pub fn bulk_ring(x: Ptr<f32>, y: Ptr<f32>, n: i32) {
    let (rows, results) = (shared::<f32>([4, 256]), shared::<f32>([2, 256]));
    let full = barriers(4, 1);
    let (first, step) = (block_id(0), num_blocks(0));
    for ahead in unroll(0..3) {
        let row = first + ahead * step;
        full[ahead].expect(if row < n { rows[0].bytes() } else { 0 });
        bulk::load(x + row * 256, full[ahead], rows[ahead]).when(row < n);
    }
    let mut turn = 0;
    for row in range(first, n, step) {
        let next = row + 3 * step;
        // Everybody has read the buffer of the iteration before, and the store of the one before that.
        sync();
        let slot = (turn + 3) % 4;
        full[slot].expect(if next < n { rows[0].bytes() } else { 0 });
        bulk::load(x + next * 256, full[slot], rows[slot]).when(next < n);
        full[turn % 4].wait(turn / 4 % 2);
        tma::store_wait(1);
        results[turn % 2].store(rows[turn % 4].load() * 2.0 + 1.0);
        bulk::store(y + row * 256, results[turn % 2]);
        turn += 1;
    }
    tma::store_wait(0);
}
