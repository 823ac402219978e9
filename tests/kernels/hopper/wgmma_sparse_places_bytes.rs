//! Where the metadata of a sparse product of bytes is found, group by group. B is the unit matrix, so that the result is the whole of A. No two
//! groups have the same metadata in all rounds: any permutation of the metadata is seen.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: i8[M, 64 / 2] list(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
//@ arg b: i8[64, 64] list(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
//@ arg p: i32[M, 64 / 16] iota(0, 4)
//@ arg c: i32[5 * M, 64] poison
//@ expect c: sum(k, 0, 64 / 2, a(i % M, k) * b(j, k / 2 * 4 + (15583620 >> ((i % M * (64 / 4) + k / 2) / (product(q, 0, i / M + 1, 6) / 6) % 6 * 4) >> (k % 2 * 2) & 3)))
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = W, grid = 1, instances((M, W) = [(64, 4), (128, 8)], PLACE = [0, 1]))]
pub fn wgmma_sparse_places_bytes<const M: i32, const W: i32, const PLACE: i32>(
    a: Tensor<i8, 2>,
    b: Tensor<i8, 2>,
    p: Tensor<i32, 2>,
    c: TensorMut<i32, 2>,
) {
    // The metadata of the group of a number: a digit of it says what is kept.
    fn group(table: Tile<i32>, place: Tile<i32>, power: i32) -> Tile<i32> {
        (table >> (place / power % 6 * 4)) & 15
    }
    let (sa, sb) = (shared::<i8>([M, 32]), shared::<i8>([64, 64]));
    let a = a.tile([0, 0], [M, 32]).load();
    sa.store(a);
    sb.store(b.tile([0, 0], [64, 64]).load());
    fence_async();
    sync();
    // The number of the first of four groups.
    let place = p.tile([0, 0], [M, 4]).load();
    let table = full([M, 4], 0xedc984);
    let mut power = 1;
    for round in 0..5 {
        let low = group(table, place, power) | (group(table, place + 1, power) << 4);
        let high = group(table, place + 2, power) | (group(table, place + 3, power) << 4);
        let m = (low | (high << 8)).cast::<u16>();
        let start = zeros::<i32>([M, 64]);
        let acc = if PLACE == 0 { wgmma::mma_sparse(sa, m, sb.t(), start) } else { wgmma::mma_sparse(a, m, sb.t(), start) };
        c.tile([round * M, 0], [M, 64]).store(wgmma::wait(0, acc));
        power *= 6;
    }
}
