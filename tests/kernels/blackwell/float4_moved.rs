//! Pairs of FP4 numbers and scales are moved as they are: by threads, through shared memory, by tensor map, through tensor memory.
//@ run: eval, emulate
//@ compare: exact
//@ arg x: e2m1x2[128, 64] list(33, 250, 7, 0, 129, 84, 99, 18, 60)
//@ arg s: ue8m0[128, 16] list(127, 0, 255, 129, 7)
//@ arg y: e2m1x2[4, 128, 64] poison
//@ arg t: ue8m0[2, 128, 16] poison
//@ expect y: if i == 3 && k >= 32 { 83 } else { x(j, k) }
//@ expect t: if i == 0 { s(j, k) } else { 127 }
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1)]
pub fn float4_moved(
    #[block(128, 64)] x: TensorMap<e2m1x2, 2>,
    s: Tensor<ue8m0, 2>,
    y: TensorMut<e2m1x2, 3>,
    t: TensorMut<ue8m0, 3>,
) {
    let (mapped, staged) = (shared::<e2m1x2>([128, 64]), shared::<e2m1x2>([128, 64]));
    let (held, scales) = (tmem::<e2m1x2>([128, 64]), tmem::<ue8m0>([128, 16]));
    let full_bar = barrier(1);
    full_bar.expect(8192);
    tma::load(x, [0, 0], full_bar, mapped);
    full_bar.wait(0);
    let tile = mapped.load();
    staged.store(tile);
    held.store(tile);
    scales.store(s.tile([0, 0], [128, 16]).load());
    y.tile([0, 0, 0], [1, 128, 64]).store(tile.expand(0));
    y.tile([1, 0, 0], [1, 128, 64]).store(staged.load().expand(0));
    y.tile([2, 0, 0], [1, 128, 64]).store(held.load().expand(0));
    let first = arange(0, 64).lt(32).expand(0).expand(0);
    y.tile([3, 0, 0], [1, 128, 64]).store(select(first, tile.expand(0), full([1, 128, 64], e2m1x2::from_bits(83))));
    t.tile([0, 0, 0], [1, 128, 16]).store(scales.load().expand(0));
    t.tile([1, 0, 0], [1, 128, 16]).store(full([1, 128, 16], ue8m0::ONE));
}
