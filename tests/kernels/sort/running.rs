//! The largest elements of a long row, kept from tile to tile: a sort in a loop reuses its scratch in each iteration.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[2, 60] uniform(-30, 30)
//@ arg most: i32[2, 4] poison
//@ arg at: i32[2, 4] poison
//@ expect most: sum(n, 0, 60, if sum(m, 0, 60, if x(i, m) > x(i, n) || x(i, m) == x(i, n) && m < n { 1 } else { 0 }) == j { x(i, n) } else { 0 })
//@ expect at: sum(n, 0, 60, if sum(m, 0, 60, if x(i, m) > x(i, n) || x(i, m) == x(i, n) && m < n { 1 } else { 0 }) == j { n } else { 0 })
use kiln::prelude::*;

#[kernel(target = [sm_80, sm_90a], warps = W, grid = 1, instances(W = [1, 4]))]
pub fn running<const W: i32>(x: Tensor<i32, 2>, most: TensorMut<i32, 2>, at: TensorMut<i32, 2>) {
    let mut best = full::<i32>([2, 4], i32::MIN);
    let mut places = full::<i32>([2, 4], 0);
    for start in range(0, x.dim(1), 16) {
        let inside = (arange(0, 16) + start).lt(x.dim(1)).expand(0);
        let tile = select(inside, x.tile([0, start], [2, 16]).load(), i32::MIN);
        let (found, found_at) = tile.top_k(4, 1);
        // Those from before come first, so that of equal ones they stay.
        let both = join(best, found).permute([0, 2, 1]).reshape([2, 8]);
        let both_at = join(places, found_at + start).permute([0, 2, 1]).reshape([2, 8]);
        let (four, order) = both.top_k(4, 1);
        best = four;
        places = both_at.gather(1, order);
    }
    most.tile([0, 0], [2, 4]).store(best);
    at.tile([0, 0], [2, 4]).store(places);
}
