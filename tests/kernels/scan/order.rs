//! The tree in which elements are combined, shown by a function that is not associative; the same in lanes as in registers.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[16, 8] uniform(-1000, 1000)
//@ arg rows: i32[16, 8] poison
//@ arg one_lane: i32[16, 8] poison
//@ arg lanes: i32[16, 8] poison
//@ expect rows: if j == 0 { x(i, 0) } else { if j == 1 { x(i, 0) - x(i, 1) } else { if j == 2 { (x(i, 0) - x(i, 1)) - x(i, 2) } else { if j == 3 { (x(i, 0) - x(i, 1)) - (x(i, 2) - x(i, 3)) } else { if j == 4 { ((x(i, 0) - x(i, 1)) - (x(i, 2) - x(i, 3))) - x(i, 4) } else { if j == 5 { ((x(i, 0) - x(i, 1)) - (x(i, 2) - x(i, 3))) - (x(i, 4) - x(i, 5)) } else { if j == 6 { ((x(i, 0) - x(i, 1)) - (x(i, 2) - x(i, 3))) - ((x(i, 4) - x(i, 5)) - x(i, 6)) } else { ((x(i, 0) - x(i, 1)) - (x(i, 2) - x(i, 3))) - ((x(i, 4) - x(i, 5)) - (x(i, 6) - x(i, 7))) } } } } } } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
pub fn order(
    x: Tensor<i32, 2>,
    rows: TensorMut<i32, 2>,
    one_lane: TensorMut<i32, 2>,
    lanes: TensorMut<i32, 2>,
) {
    let x = x.tile([0, 0], [16, 8]).load();
    rows.tile([0, 0], [16, 8]).store(x.scan(1, |a, b| a - b));
    let registers = x.to_layout(blocked([1, 8], [16, 2], [2, 1], [1, 0]));
    one_lane.tile([0, 0], [16, 8]).store(registers.scan(1, |a, b| a - b));
    let spread = x.to_layout(blocked([1, 1], [8, 4], [1, 2], [1, 0]));
    lanes.tile([0, 0], [16, 8]).store(spread.scan(1, |a, b| a - b));
}
