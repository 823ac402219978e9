//! What a loop without iterations would have computed first is computed by what follows.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg n: i32 scalar 0
//@ arg x: i32[64] bits
//@ arg out: i32[64] poison
//@ expect out: x(i) + n * (n - 1) / 2
//@ case: none
//@ case: some
//@ arg n: i32 scalar 6
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
pub fn after_a_skipped_loop(n: i32, x: Tensor<i32, 1>, out: TensorMut<i32, 1>) {
    for k in 0..n {
        out.tile([0], [64]).store(x.tile([0], [64]).load() * k);
    }
    let mut total = 0;
    let mut k = 0;
    while k < n {
        total += k;
        k += 1;
    }
    if n > 100 {
        out.tile([0], [64]).store(x.tile([0], [64]).load());
    }
    out.tile([0], [64]).store(x.tile([0], [64]).load() + total);
}
