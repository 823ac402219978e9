//! Products side by side of which each has the columns of an instruction of `wgmma`, a power of two: together any number of them, as 24, 96 and 192.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg a: f16[64, 64] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: f16[64, LEFT + RIGHT] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f32[64, LEFT + RIGHT] poison
//@ expect c: sum(k, 0, 64, a(i, k) * b(k, j))
use kiln::prelude::*;

#[kernel(target = sm_90a, warps = 4, grid = 1, instances((LEFT, RIGHT) = [(16, 8), (64, 32), (128, 64)]))]
pub fn wgmma_side_by_side<const LEFT: i32, const RIGHT: i32>(
    #[block(64, 64)] a: TensorMap<f16, 2>,
    b: Tensor<f16, 2>,
    c: TensorMut<f32, 2>,
) {
    let sa = shared::<f16>([64, 64]);
    let (left, right) = (shared::<f16>([64, LEFT]), shared::<f16>([64, RIGHT]));
    let bar = barrier(1);
    bar.expect(a.block_bytes());
    tma::load(a, [0, 0], bar, sa);
    left.store(b.tile([0, 0], [64, LEFT]).load());
    right.store(b.tile([0, LEFT], [64, RIGHT]).load());
    bar.wait(0);
    let first = wgmma::mma(sa, left, zeros([64, LEFT]));
    let second = wgmma::mma(sa, right, zeros([64, RIGHT]));
    let second = wgmma::wait(0, second);
    let first = wgmma::wait(0, first);
    c.tile([0, 0], [64, LEFT]).store(first);
    c.tile([0, LEFT], [64, RIGHT]).store(second);
}
