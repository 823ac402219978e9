//! Iterations of a loop, and branches in it, that read what earlier iterations have written through other threads; a counter that every
//! thread reads before one writes it decides a branch.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[256] iota(1, 1)
//@ arg count: i32[1] fill(0)
//@ arg n: i32 scalar 5
//@ expect count: 5
use kiln::prelude::*;

#[kernel(target = sm_80, warps = W, grid = 1, instances(W = [2, 4]))]
pub fn turns<const W: i32>(x: TensorMut<i32, 1>, count: TensorMut<i32, 1>, n: i32) {
    for turn in 0..n {
        let shifted = x.tile([turn + 1], [128]).load();
        if turn % 2 == 0 {
            x.tile([0], [128]).store(shifted * 3);
        } else {
            x.tile([64], [128]).store(shifted + turn);
        }
        let now = count.tile([0], [1]).load();
        if now.item() == turn {
            sync();
        }
        count.tile([0], [1]).store(now + 1);
    }
    let mut at = 0;
    while at < n {
        let v = x.tile([at], [64]).load();
        x.tile([at + 1], [64]).store(v);
        at += 2;
    }
}
