//! A phase that nobody ends: one of the two arrivals that it waits for never comes.
//@ run: eval, emulate
//@ compare: exact
//@ arg x: i32[32] uniform(-1000, 1000)
//@ arg arrives: bool scalar false
//@ arg out: i32[32] poison
//@ fails: deadlock
use kiln::prelude::*;

#[kernel(target = [sm_90a, sm_100a], warps = 1, grid = 1)]
pub fn deadlock(x: Tensor<i32, 1>, arrives: bool, out: TensorMut<i32, 1>) {
    let staged = shared::<i32>([32]);
    let full = barrier(2);
    let fill = || {
        staged.store(x.tile([0], [32]).load());
        full.arrive();
        if arrives {
            full.arrive();
        }
    };
    let drain = || {
        full.wait(0);
        out.tile([0], [32]).store(staged.load());
    };
    warp_specialize(drain, [partition(1).run(fill)]);
}
