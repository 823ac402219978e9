//! Names in patterns: those of constants compare, however they are spelled; all others are new.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg codes: i32[16] list(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
//@ arg out: i32[16] poison
//@ expect out: if codes(i) == 2 { 102 } else { if codes(i) == 3 || codes(i) == 4 { 200 } else { if codes(i) == 5 { 305 } else { if codes(i) == 6 { 1 } else { codes(i) } } } }
use kiln::prelude::*;

#[allow(non_upper_case_globals)]
#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn match_constants(codes: Tensor<i32, 1>, out: TensorMut<i32, 1>) {
    const two: i32 = 2;
    const Four: i32 = 4;
    const bound: i32 = 6;
    const one: i32 = 1;
    for at in 0..16 {
        let code = codes.tile([at], [1]).load().item();
        let value = match (code, one) {
            // The constant is one in the arm as well: it is an extent.
            (two, one) => full([two], 51).sum(0).item(),
            (3 | Four, _) => 200,
            (five, step) if five == 5 => five + 299 + step,
            (bound, other) => other,
            (code, _) => code,
        };
        out.tile([at], [1]).store(full([1], value));
    }
}
