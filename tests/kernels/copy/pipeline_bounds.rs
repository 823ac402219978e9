//! A pipelined loop at the ends of `i32`: turns ahead that would wrap do not exist.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg from: i32 scalar 0
//@ arg to: i32 scalar 64
//@ arg x: f16[16, 64] list(1, -2, 3, 0, 2, -1, 1)
//@ arg out: f16[16, 16] poison
//@ arg turns: i32[1] poison
//@ case: all
//@ expect turns: 4
//@ expect out: x(i, 48 + j)
//@ case: none
//@ arg to: i32 scalar 0
//@ expect turns: 0
//@ expect out: 7.0
//@ case: at the end of i32
//@ arg from: i32 scalar 2147483600
//@ arg to: i32 scalar 2147483647
//@ expect turns: 3
//@ expect out: x(i, 32 + j)
//@ case: at its beginning
//@ arg from: i32 scalar -2147483648
//@ arg to: i32 scalar -2147483647
//@ expect turns: 1
//@ expect out: x(i, j)
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn pipeline_bounds(
    from: i32,
    to: i32,
    x: Tensor<f16, 2>,
    out: TensorMut<f16, 2>,
    turns: TensorMut<i32, 1>,
) {
    let s = shared::<f16>([16, 16]);
    let mut last = full([16, 16], f16::of(7.0));
    let mut count = 0;
    for k in pipeline(range(from, to, 16), 4) {
        copy_async(x.tile([0, k - from], [16, 16]), s);
        last = s.load();
        count += 1;
    }
    out.tile([0, 0], [16, 16]).store(last);
    turns.tile([0], [1]).store(full([1], count));
}
