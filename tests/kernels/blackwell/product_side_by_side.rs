//! Products side by side, each with the columns of an instruction, a power of two: together any number of them, as 24, 96 and 192.
//@ run: eval, emulate
//@ compare: exact
//@ arg a: bf16[64, 32] list(1, -2, 3, 0, 2, -1, 4, -3, 1, 0, -4)
//@ arg b: bf16[32, LEFT + RIGHT] list(-1, 2, 0, 3, 1, -2, 1)
//@ arg c: f32[64, LEFT + RIGHT] poison
//@ expect c: sum(k, 0, 32, a(i, k) * b(k, j))
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 4, grid = 1, instances((LEFT, RIGHT) = [(16, 8), (64, 32), (128, 64)]))]
pub fn product_side_by_side<const LEFT: i32, const RIGHT: i32>(
    a: Tensor<bf16, 2>,
    b: Tensor<bf16, 2>,
    c: TensorMut<f32, 2>,
) {
    let rows = shared::<bf16>([64, 32]);
    let (left, right) = (shared::<bf16>([32, LEFT]), shared::<bf16>([32, RIGHT]));
    let (first, second) = (tmem::<f32>([64, LEFT]), tmem::<f32>([64, RIGHT]));
    let done = barrier(1);
    rows.store(a.tile([0, 0], [64, 32]).load());
    left.store(b.tile([0, 0], [32, LEFT]).load());
    right.store(b.tile([0, LEFT], [32, RIGHT]).load());
    tcgen05::mma(rows, left, first).accumulate(false);
    tcgen05::mma(rows, right, second).accumulate(false);
    tcgen05::commit(done);
    done.wait(0);
    c.tile([0, 0], [64, LEFT]).store(first.load());
    c.tile([0, LEFT], [64, RIGHT]).store(second.load());
}
