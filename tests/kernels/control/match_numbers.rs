//! `match` on integers that the launch gives, and on those that are constants.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg codes: i32[32] list(0, 1, 2, 3, -1, -3, -4, 7, 8, 9, 10, 2147483647, -2147483648, 5)
//@ arg odd: bool scalar true
//@ arg named: i32[32] poison
//@ arg pairs: i32[32] poison
//@ arg steps: i32[4] poison
//@ expect named: if codes(i) == 0 { 100 } else { if codes(i) == 1 || codes(i) == 2 { 200 } else { if codes(i) >= -3 && codes(i) < 0 { 300 } else { if codes(i) == 7 { 400 } else { if codes(i) >= 8 && codes(i) < 10 { codes(i) * 2 } else { if codes(i) >= 10 { 500 } else { codes(i) + 1 } } } } } }
//@ expect pairs: if codes(i) == 0 { 1 } else { if codes(i) == 9 { 29 } else { 3 } }
//@ expect steps: if i == 0 { 10 } else { if i == 3 { 40 } else { 20 + i } }
//@ case: even
//@ arg odd: bool scalar false
//@ expect named: if codes(i) == 0 { 100 } else { if codes(i) >= -3 && codes(i) < 0 { 300 } else { if codes(i) == 7 { 400 } else { if codes(i) >= 8 && codes(i) < 10 { codes(i) * 2 } else { if codes(i) >= 10 { 500 } else { codes(i) + 1 } } } } }
//@ expect pairs: codes(i) - 5
//@ expect steps: if i == 0 { 10 } else { if i == 3 { 40 } else { 20 + i } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn match_numbers(
    codes: Tensor<i32, 1>,
    odd: bool,
    named: TensorMut<i32, 1>,
    pairs: TensorMut<i32, 1>,
    steps: TensorMut<i32, 1>,
) {
    const SEVEN: i32 = 7;
    for at in 0..32 {
        let code = codes.tile([at], [1]).load().item();
        let name = match code {
            0 => 100,
            1 | 2 if odd => 200,
            -3..=-1 => 300,
            SEVEN => 400,
            two @ 8..10 => two * 2,
            10.. => 500,
            other => other + 1,
        };
        named.tile([at], [1]).store(full([1], name));
        let mut pair = 0;
        match (odd, code) {
            (true, 0) => pair = 1,
            (true, n @ 9) => pair = n + 20,
            (true, _) => pair += 3,
            (false, n) => {
                pair = n - 5;
            }
        }
        pairs.tile([at], [1]).store(full([1], pair));
    }
    for at in unroll(0..4) {
        // Only the arm that is taken is built.
        match at {
            0 => steps.tile([0], [1]).store(full([1], 10)),
            3 => steps.tile([3], [1]).store(full([1], 40)),
            _ => steps.tile([at], [1]).store(full([1], 20 + at)),
        }
    }
}
