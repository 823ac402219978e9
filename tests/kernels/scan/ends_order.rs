//! The tree of reverse and exclusive scans, shown by a function that is not associative; the same in registers, lanes and warps, whose
//! results differ by nothing.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg x: i32[16, 8] uniform(-1000, 1000)
//@ arg left: i32[16, 8] poison
//@ arg before: i32[16, 8] poison
//@ arg after: i32[16, 8] poison
//@ arg registers: i32[16, 8] poison
//@ arg lanes: i32[16, 8] poison
//@ arg warps: i32[16, 8] poison
//@ expect registers: 0
//@ expect lanes: 0
//@ expect warps: 0
//@ expect left: if j == 7 { x(i, 7) } else { if j == 6 { x(i, 7) - x(i, 6) } else { if j == 5 { (x(i, 7) - x(i, 6)) - x(i, 5) } else { if j == 4 { (x(i, 7) - x(i, 6)) - (x(i, 5) - x(i, 4)) } else { if j == 3 { ((x(i, 7) - x(i, 6)) - (x(i, 5) - x(i, 4))) - x(i, 3) } else { if j == 2 { ((x(i, 7) - x(i, 6)) - (x(i, 5) - x(i, 4))) - (x(i, 3) - x(i, 2)) } else { if j == 1 { ((x(i, 7) - x(i, 6)) - (x(i, 5) - x(i, 4))) - ((x(i, 3) - x(i, 2)) - x(i, 1)) } else { ((x(i, 7) - x(i, 6)) - (x(i, 5) - x(i, 4))) - ((x(i, 3) - x(i, 2)) - (x(i, 1) - x(i, 0))) } } } } } } }
//@ expect before: if j == 0 { 5 } else { if j == 1 { 5 - x(i, 0) } else { if j == 2 { 5 - (x(i, 0) - x(i, 1)) } else { if j == 3 { 5 - ((x(i, 0) - x(i, 1)) - x(i, 2)) } else { if j == 4 { 5 - ((x(i, 0) - x(i, 1)) - (x(i, 2) - x(i, 3))) } else { if j == 5 { 5 - (((x(i, 0) - x(i, 1)) - (x(i, 2) - x(i, 3))) - x(i, 4)) } else { if j == 6 { 5 - (((x(i, 0) - x(i, 1)) - (x(i, 2) - x(i, 3))) - (x(i, 4) - x(i, 5))) } else { 5 - (((x(i, 0) - x(i, 1)) - (x(i, 2) - x(i, 3))) - ((x(i, 4) - x(i, 5)) - x(i, 6))) } } } } } } }
//@ expect after: if j == 7 { 5 } else { if j == 6 { 5 - x(i, 7) } else { if j == 5 { 5 - (x(i, 7) - x(i, 6)) } else { if j == 4 { 5 - ((x(i, 7) - x(i, 6)) - x(i, 5)) } else { if j == 3 { 5 - ((x(i, 7) - x(i, 6)) - (x(i, 5) - x(i, 4))) } else { if j == 2 { 5 - (((x(i, 7) - x(i, 6)) - (x(i, 5) - x(i, 4))) - x(i, 3)) } else { if j == 1 { 5 - (((x(i, 7) - x(i, 6)) - (x(i, 5) - x(i, 4))) - (x(i, 3) - x(i, 2))) } else { 5 - (((x(i, 7) - x(i, 6)) - (x(i, 5) - x(i, 4))) - ((x(i, 3) - x(i, 2)) - x(i, 1))) } } } } } } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 2, grid = 1)]
#[expect(clippy::too_many_arguments, reason = "one output for each scan")]
pub fn ends_order(
    x: Tensor<i32, 2>,
    left: TensorMut<i32, 2>,
    before: TensorMut<i32, 2>,
    after: TensorMut<i32, 2>,
    registers: TensorMut<i32, 2>,
    lanes: TensorMut<i32, 2>,
    warps: TensorMut<i32, 2>,
) {
    const REGISTERS: Layout = blocked([1, 8], [16, 2], [2, 1], [1, 0]);
    const LANES: Layout = blocked([1, 1], [8, 4], [1, 2], [1, 0]);
    const WARPS: Layout = blocked([1, 4], [32, 1], [1, 2], [1, 0]);
    let x = x.tile([0, 0], [16, 8]).load();
    left.tile([0, 0], [16, 8]).store(x.scan_reverse(1, |a, b| a - b));
    before.tile([0, 0], [16, 8]).store(x.scan_exclusive(1, 5, |a, b| a - b));
    after.tile([0, 0], [16, 8]).store(x.scan_reverse_exclusive(1, 5, |a, b| a - b));
    let held = x.to_layout(REGISTERS);
    let spread = x.to_layout(LANES);
    let crossing = x.to_layout(WARPS);
    registers.tile([0, 0], [16, 8]).store(
        held.scan_reverse_exclusive(1, 5, |a, b| a - b)
            - spread.scan_reverse_exclusive(1, 5, |a, b| a - b),
    );
    lanes.tile([0, 0], [16, 8]).store(
        spread.scan_exclusive(1, 5, |a, b| a - b) - crossing.scan_exclusive(1, 5, |a, b| a - b),
    );
    warps
        .tile([0, 0], [16, 8])
        .store(crossing.scan_reverse(1, |a, b| a - b) - held.scan_reverse(1, |a, b| a - b));
}
