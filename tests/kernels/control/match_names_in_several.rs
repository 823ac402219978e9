//! Names that all patterns of an arm have: the same part of the value in each, another part in each, within a tuple, in `if let` and `let .. else`,
//! and names of constants among them.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg left: i32[32] list(1, 2, 3, 4, 5, 7, 1, 9)
//@ arg right: i32[32] list(1, 1, 5, 1, 7, 9, 6, 4, 3, 3, 2)
//@ arg whole: i32[32] poison
//@ arg parts: i32[32] poison
//@ arg nested: i32[32] poison
//@ arg found: i32[32] poison
//@ arg rest: i32[32] poison
//@ arg constant: i32[32] poison
//@ expect whole: if left(i) == 1 || left(i) == 2 { right(i) } else { -left(i) }
//@ expect parts: if left(i) == 1 { right(i) } else { if right(i) == 1 { left(i) } else { if left(i) == 3 || left(i) == 5 { left(i) + right(i) } else { 0 } } }
//@ expect nested: if left(i) == 1 { 100 * right(i) + 1 } else { if right(i) == 1 { 101 * left(i) } else { if left(i) == 9 { 900 + right(i) } else { 7 } } }
//@ expect found: if left(i) == 7 { right(i) } else { if right(i) == 3 { left(i) } else { 0 } }
//@ expect rest: if left(i) == 4 { right(i) } else { if right(i) == 2 { left(i) } else { -1 } }
//@ expect constant: if left(i) == 4 { right(i) } else { if right(i) == 4 { left(i) } else { if left(i) == 5 || left(i) == 7 { 50 } else { -1 } } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
#[expect(clippy::too_many_arguments, reason = "each is a result of its own")]
pub fn match_names_in_several(
    left: Tensor<i32, 1>,
    right: Tensor<i32, 1>,
    whole: TensorMut<i32, 1>,
    parts: TensorMut<i32, 1>,
    nested: TensorMut<i32, 1>,
    found: TensorMut<i32, 1>,
    rest: TensorMut<i32, 1>,
    constant: TensorMut<i32, 1>,
) {
    #[expect(non_upper_case_globals, reason = "a name in lower case may be that of a constant too")]
    const four: i32 = 4;
    for at in 0..32 {
        let a = left.tile([at], [1]).load().item();
        let b = right.tile([at], [1]).load().item();
        let value = match (a, b) {
            // Both give the same part: a guard is tried once for either.
            (1, n) | (2, n) if n > -1 => n,
            (m, _) => -m,
        };
        whole.tile([at], [1]).store(full([1], value));

        let value = match (a, b) {
            (1, n) | (n, 1) => n,
            (m @ (3 | 5), n) => m + n,
            _ => 0,
        };
        parts.tile([at], [1]).store(full([1], value));

        let value = match ((a, b), a) {
            ((1, m) | (m, 1), n) | ((m, n), 9) => 100 * m + n,
            _ => 7,
        };
        nested.tile([at], [1]).store(full([1], value));

        let mut value = 0;
        if let (7, n) | (n, 3) = (a, b) {
            value = n;
        }
        found.tile([at], [1]).store(full([1], value));

        let value = match (a, b) {
            (four, n) | (n, four) => n,
            (5, _) | (7, _) => 50,
            _ => -1,
        };
        constant.tile([at], [1]).store(full([1], value));
    }
    for at in 0..32 {
        let a = left.tile([at], [1]).load().item();
        let b = right.tile([at], [1]).load().item();
        let window = rest.tile([at], [1]);
        window.store(full([1], -1));
        let ((4, n) | (n, 2)) = (a, b) else { continue };
        window.store(full([1], n));
    }
}
