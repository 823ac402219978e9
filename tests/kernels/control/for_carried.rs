//! Loops that carry tiles, scalars, tuples and structs; bounds known when the kernel runs, zero iterations too.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg n: i32 scalar 5
//@ arg x: i32[64] uniform(-10, 10)
//@ arg out: i32[64] poison
//@ arg scalars: i32[4] poison
//@ expect out: x(i) + sum(t, 0, n, t * x(i))
//@ expect scalars: if i == 0 { sum(t, 0, n, t) } else { if i == 1 { n } else { if i == 2 { 1 + 2 * n } else { 100 - 3 * n } } }
//@ case: five
//@ case: none
//@ arg n: i32 scalar 0
//@ expect out: x(i)
//@ case: negative
//@ arg n: i32 scalar -4
//@ expect out: x(i)
//@ expect scalars: if i == 0 { 0 } else { if i == 1 { 0 } else { if i == 2 { 1 } else { 100 } } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
pub fn for_carried(n: i32, x: Tensor<i32, 1>, out: TensorMut<i32, 1>, scalars: TensorMut<i32, 1>) {
    struct State {
        up: i32,
        down: i32,
    }
    let x = x.tile([0], [64]).load();
    let mut acc = x;
    let mut total = 0;
    let mut pair = (0, 1);
    let mut state = State { up: 1, down: 100 };
    for t in 0..n {
        acc += t * x;
        total += t;
        pair = (pair.0 + 1, pair.1);
        state.up += 2;
        state.down = state.down - 3;
    }
    out.tile([0], [64]).store(acc);
    scalars.tile([0], [1]).store(full([1], total));
    scalars.tile([1], [1]).store(full([1], pair.0 * pair.1));
    scalars.tile([2], [1]).store(full([1], state.up));
    scalars.tile([3], [1]).store(full([1], state.down));
}
