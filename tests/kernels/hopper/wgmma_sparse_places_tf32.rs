//! Where the metadata of a sparse product of `f32` is found, group by group. B is the unit matrix, so that the result is the whole of A. No two
//! groups have the same metadata in all rounds: any permutation of the metadata is seen.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f32[M, 16 / 2] list(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
//@ arg b: f32[16, 16] list(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
//@ arg p: i32[M, 16 / 8] iota(0, 4)
//@ arg c: f32[10 * M, 16] poison
//@ expect c: sum(k, 0, 16 / 2, a(i % M, k) * b(j, k * 2 + (i % M * (16 / 2) + k) / (product(q, 0, i / M + 1, 2) / 2) % 2))
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = W, grid = 1, instances((M, W) = [(64, 4), (128, 8)], PLACE = [0, 1]))]
pub fn wgmma_sparse_places_tf32<const M: i32, const W: i32, const PLACE: i32>(
    a: Tensor<f32, 2>,
    b: Tensor<f32, 2>,
    p: Tensor<i32, 2>,
    c: TensorMut<f32, 2>,
) {
    // The metadata of the group of a number: a digit of it says what is kept.
    fn group(place: Tile<i32>, power: i32) -> Tile<i32> {
        place / power % 2 * 10 + 4
    }
    let (sa, sb) = (shared::<f32>([M, 8]), shared::<f32>([16, 16]));
    let a = a.tile([0, 0], [M, 8]).load();
    sa.store(a);
    sb.store(b.tile([0, 0], [16, 16]).load());
    fence_async();
    sync();
    // The number of the first of four groups.
    let place = p.tile([0, 0], [M, 2]).load();
    let mut power = 1;
    for round in 0..10 {
        let low = group(place, power) | (group(place + 1, power) << 4);
        let high = group(place + 2, power) | (group(place + 3, power) << 4);
        let m = (low | (high << 8)).cast::<u16>();
        let start = zeros::<f32>([M, 16]);
        let acc = if PLACE == 0 { wgmma::mma_sparse(sa, m, sb.t(), start) } else { wgmma::mma_sparse(a, m, sb.t(), start) };
        c.tile([round * M, 0], [M, 16]).store(wgmma::wait(0, acc));
        power *= 2;
    }
}
