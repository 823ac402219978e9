//! Both blocks of a pair gather rows, and the barrier of the first one counts the bytes of both; it tells the other one when they are there.
//@ run: eval, emulate
//@ compare: exact
//@ arg x: f32[40, 32] iota(0, 1)
//@ arg y: f32[16, 32] poison
//@ expect y: if i % 3 == 2 { 0 } else { x(39 - 2 * i, j) }
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 2, cluster = 2, grid = 2)]
pub fn pair_gather(#[block(1, 32)] x: TensorMap<f32, 2>, y: TensorMut<f32, 2>) {
    let rank = cluster::rank();
    let tile = shared::<f32>([8, 32]);
    let (full, there) = (barrier(1), barrier(1));
    let wanted = arange(0, 8) + 8 * rank;
    // Rows that there are not give zeros.
    let rows = select((wanted % 3).eq(2), wanted + 40, 39 - wanted * 2);
    if rank == 0 {
        full.expect(2 * tile.bytes());
    }
    tma::gather(x, rows, 0, full.of_block(0), tile);
    if rank == 0 {
        full.wait(0);
        there.arrive();
        there.of_block(1).arrive();
    }
    there.wait(0);
    y.tile([8 * rank, 0], [8, 32]).store(tile.load());
}
