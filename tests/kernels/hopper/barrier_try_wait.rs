//! Phases that are asked for: by the warps of a block together and by one warp, before they can have ended, until they have, and
//! after the next one has begun.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[32, 64] list(1, -2, 3, 5, 2, -1, 4, -3, 1, 6, -4)
//@ arg b: f16[32, 64] poison
//@ arg over: i32[6] poison
//@ expect b: a(i, j)
//@ expect over: if i % 3 == 1 { 1 } else { 0 }
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 2, grid = 1)]
pub fn barrier_try_wait(
    #[block(16, 64)] a: TensorMap<f16, 2>,
    b: TensorMut<f16, 2>,
    over: TensorMut<i32, 1>,
) {
    let tiles = shared::<f16>([2, 16, 64]);
    let bars = barriers(2, 1);
    let fetch = |half: i32| {
        let bar = bars[half];
        let before = bar.try_wait(0);
        bar.expect(a.block_bytes());
        tma::load(a, [16 * half, 0], bar, tiles[half]);
        while !bar.try_wait(0) {}
        b.tile([16 * half, 0], [16, 64]).store(tiles[half].load());
        let answer = |at: i32, is_over: bool| {
            over.tile([3 * half + at], [1]).store(full([1], if is_over { 1 } else { 0 }));
        };
        answer(0, before);
        answer(1, bar.try_wait(0));
        answer(2, bar.try_wait(1));
    };
    warp_specialize(|| fetch(0), [partition(1).run(|| fetch(1))]);
}
