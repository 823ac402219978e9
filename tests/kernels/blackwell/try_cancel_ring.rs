//! One warp asks for clusters that have not begun, as many ahead as there are answers in the ring; others compute what it is told.
//@ run: eval, emulate
//@ compare: exact
//@ arg x: i32[40, 32] list(3, -1, 4, 1, -5, 9, 2, 6, 5, 3, 5)
//@ arg sums: i32[40, 32] poison
//@ expect sums: x(i, j) + i
use kiln::prelude::*;

#[kernel(target = sm_100a, warps = 1, grid = 40)]
pub fn try_cancel_ring(x: Tensor<i32, 2>, sums: TensorMut<i32, 2>) {
    let answers = shared::<u32>([2, 4]);
    let (full, empty) = (barriers(2, 1), barriers(2, 2));
    warp_specialize(
        || {
            let (mut at, mut turn, mut more) = (block_id(0), 0, true);
            while more {
                let row = x.tile([at, 0], [1, 32]).load();
                sums.tile([at, 0], [1, 32]).store(row + at);
                let slot = turn % 2;
                full[slot].wait(turn / 2 % 2);
                more = cluster::is_canceled(answers[slot]);
                at = cluster::canceled_block_id(answers[slot], 0);
                empty[slot].arrive();
                turn += 1;
            }
        },
        [partition(1).run(|| {
            let (mut turn, mut more) = (0, true);
            while more {
                let slot = turn % 2;
                empty[slot].wait(1 - turn / 2 % 2);
                full[slot].expect_copies();
                cluster::try_cancel(answers[slot], full[slot]);
                full[slot].wait(turn / 2 % 2);
                more = cluster::is_canceled(answers[slot]);
                empty[slot].arrive();
                turn += 1;
            }
        })],
    );
}
