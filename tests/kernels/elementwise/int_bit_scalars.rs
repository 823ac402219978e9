//! Functions of the bits of numbers: of arguments, and of constants, which extents of tiles may depend on.
//@ run: eval, emulate, gpu
//@ compare: exact
//@ arg n: u32 scalar 4042322160
//@ arg out: u32[16] poison
//@ expect out: if i == 0 { 16 } else { if i == 1 { 0 } else { if i == 2 { 4 } else { if i == 3 { 252645135 } else { if i == 4 { 252645135 } else { if i == 5 { 2021161080 } else { if i == 6 { 3 } else { if i == 7 { 1065353216 } else { if i == 8 { 6 } else { if i == 9 { 26 } else { if i == 10 { 25 } else { if i == 11 { 4 } else { 0 } } } } } } } } } } } }
use kiln::prelude::*;

#[kernel(target = sm_80, warps = 1, grid = 1)]
pub fn int_bit_scalars(n: u32, out: TensorMut<u32, 1>) {
    fn put(out: TensorMut<u32, 1>, at: i32, x: u32) {
        out.tile([at], [1]).store(full([1], x));
    }
    const N: i32 = 64;
    put(out, 0, n.count_ones());
    put(out, 1, n.leading_zeros());
    put(out, 2, n.trailing_zeros());
    put(out, 3, n.reverse_bits());
    put(out, 4, n.rotate_left(4));
    put(out, 5, n.rotate_right(1));
    put(out, 6, n.mul_hi(4));
    put(out, 7, 1.0f32.to_bits());
    // The logarithm of a constant counts the rows of a tile.
    let rows = full([1 << (N.trailing_zeros() as i32 - 3)], 1u32).sum(0).item();
    put(out, 8, rows - 2);
    put(out, 9, (N - 1).leading_zeros());
    put(out, 10, N.leading_zeros());
    put(out, 11, n.leading_ones());
    put(out, 12, n.trailing_ones());
    put(out, 13, 0);
    put(out, 14, 0);
    put(out, 15, 0);
}
