//! Integer arithmetic.

use crate::harness::{check_d, check1, check2, check3};

fn s(a: u32) -> i32 {
    a as i32
}

#[test]
fn sums_and_differences_of_32_bits() {
    check2("add.u32 %o, %a, %b;", u32::wrapping_add);
    check2("add.s32 %o, %a, -7;", |a, _| a.wrapping_sub(7));
    check2("sub.s32 %o, %a, %b;", u32::wrapping_sub);
    check2("add.sat.s32 %o, %a, %b;", |a, b| s(a).saturating_add(s(b)) as u32);
    check2("sub.sat.s32 %o, %a, %b;", |a, b| s(a).saturating_sub(s(b)) as u32);
}

#[test]
fn products_of_32_bits() {
    check2("mul.lo.u32 %o, %a, %b;", u32::wrapping_mul);
    check2("mul.hi.u32 %o, %a, %b;", |a, b| (u64::from(a) * u64::from(b) >> 32) as u32);
    check2("mul.hi.s32 %o, %a, %b;", |a, b| (i64::from(s(a)) * i64::from(s(b)) >> 32) as u32);
    check3("mad.lo.s32 %o, %a, %b, %c;", |a, b, c| a.wrapping_mul(b).wrapping_add(c));
    check3("mad.hi.s32 %o, %a, %b, %c;", |a, b, c| {
        ((i64::from(s(a)) * i64::from(s(b)) >> 32) as u32).wrapping_add(c)
    });
    check3("mad.hi.sat.s32 %o, %a, %b, %c;", |a, b, c| {
        ((i64::from(s(a)) * i64::from(s(b)) >> 32) as i32).saturating_add(s(c)) as u32
    });
    check2("mul24.lo.u32 %o, %a, %b;", |a, b| {
        (u64::from(a & 0xFF_FFFF) * u64::from(b & 0xFF_FFFF)) as u32
    });
    check2("mul24.hi.s32 %o, %a, %b;", |a, b| {
        (i64::from(s(a) << 8 >> 8) * i64::from(s(b) << 8 >> 8) >> 16) as u32
    });
    check3("mad24.lo.s32 %o, %a, %b, %c;", |a, b, c| {
        ((s(a) << 8 >> 8).wrapping_mul(s(b) << 8 >> 8) as u32).wrapping_add(c)
    });
}

#[test]
fn quotients_of_32_bits() {
    // Division by zero gives an unspecified value; the operand is made odd.
    check2("or.b32 %b, %b, 1; div.u32 %o, %a, %b;", |a, b| a / (b | 1));
    check2("or.b32 %b, %b, 1; rem.u32 %o, %a, %b;", |a, b| a % (b | 1));
    check2("or.b32 %b, %b, 1; div.s32 %o, %a, %b;", |a, b| s(a).wrapping_div(s(b | 1)) as u32);
    check2("or.b32 %b, %b, 1; rem.s32 %o, %a, %b;", |a, b| s(a).wrapping_rem(s(b | 1)) as u32);
}

#[test]
fn extremes_and_signs_of_32_bits() {
    check2("min.s32 %o, %a, %b;", |a, b| s(a).min(s(b)) as u32);
    check2("max.s32 %o, %a, %b;", |a, b| s(a).max(s(b)) as u32);
    check2("min.u32 %o, %a, %b;", u32::min);
    check2("max.u32 %o, %a, %b;", u32::max);
    check2("max.relu.s32 %o, %a, %b;", |a, b| s(a).max(s(b)).max(0) as u32);
    check1("abs.s32 %o, %a;", |a| s(a).unsigned_abs());
    check1("neg.s32 %o, %a;", u32::wrapping_neg);
    check3("sad.s32 %o, %a, %b, %c;", |a, b, c| s(a).abs_diff(s(b)).wrapping_add(c));
    check3("sad.u32 %o, %a, %b, %c;", |a, b, c| a.abs_diff(b).wrapping_add(c));
}

#[test]
fn sixteen_bits() {
    let wrap = |text: &str| format!("{text} cvt.u32.u16 %o, %s0;");
    let l = |a: u32| a as u16;
    let i = |a: u32| a as i16;
    check2(&wrap("add.u16 %s0, %h0, %h1;"), |a, b| l(a).wrapping_add(l(b)).into());
    check2(&wrap("sub.s16 %s0, %h0, %h1;"), |a, b| l(a).wrapping_sub(l(b)).into());
    check2(&wrap("mul.lo.u16 %s0, %h0, %h1;"), |a, b| l(a).wrapping_mul(l(b)).into());
    check2(&wrap("mul.hi.s16 %s0, %h0, %h1;"), |a, b| {
        u32::from((i32::from(i(a)) * i32::from(i(b)) >> 16) as u16)
    });
    check2("mul.wide.s16 %o, %h0, %h1;", |a, b| (i32::from(i(a)) * i32::from(i(b))) as u32);
    check2("mul.wide.u16 %o, %h0, %h1;", |a, b| u32::from(l(a)) * u32::from(l(b)));
    check3("mad.wide.u16 %o, %h0, %h1, %c;", |a, b, c| {
        (u32::from(l(a)) * u32::from(l(b))).wrapping_add(c)
    });
    check2(&wrap("or.b16 %h1, %h1, 1; div.s16 %s0, %h0, %h1;"), |a, b| {
        u32::from(i(a).wrapping_div(i(b) | 1) as u16)
    });
    check2(&wrap("max.s16 %s0, %h0, %h1;"), |a, b| u32::from(i(a).max(i(b)) as u16));
    check2(&wrap("min.u16 %s0, %h0, %h1;"), |a, b| l(a).min(l(b)).into());
    check2("add.u16x2 %o, %a, %b;", |a, b| {
        u32::from(l(a).wrapping_add(l(b))) | u32::from(l(a >> 16).wrapping_add(l(b >> 16))) << 16
    });
    check2("max.s16x2 %o, %a, %b;", |a, b| {
        u32::from(i(a).max(i(b)) as u16) | u32::from(i(a >> 16).max(i(b >> 16)) as u16) << 16
    });
}

#[test]
fn sixty_four_bits() {
    let i = |a: u64| a as i64;
    check_d("add.u64 %q, %x, %y;", |x, y, _, _| x.wrapping_add(y));
    check_d("sub.s64 %q, %x, %y;", |x, y, _, _| x.wrapping_sub(y));
    check_d("mul.lo.u64 %q, %x, %y;", |x, y, _, _| x.wrapping_mul(y));
    check_d("mul.hi.u64 %q, %x, %y;", |x, y, _, _| (u128::from(x) * u128::from(y) >> 64) as u64);
    check_d("mul.hi.s64 %q, %x, %y;", |x, y, _, _| {
        (i128::from(i(x)) * i128::from(i(y)) >> 64) as u64
    });
    check_d("mad.lo.s64 %q, %x, %y, %z;", |x, y, z, _| x.wrapping_mul(y).wrapping_add(z));
    check_d("or.b64 %y, %y, 1; div.s64 %q, %x, %y;", |x, y, _, _| {
        i(x).wrapping_div(i(y | 1)) as u64
    });
    check_d("or.b64 %y, %y, 1; rem.u64 %q, %x, %y;", |x, y, _, _| x % (y | 1));
    check_d("min.s64 %q, %x, %y;", |x, y, _, _| i(x).min(i(y)) as u64);
    check_d("max.u64 %q, %x, %y;", |x, y, _, _| x.max(y));
    check_d("abs.s64 %q, %x;", |x, _, _, _| i(x).unsigned_abs());
    check_d("neg.s64 %q, %x;", |x, _, _, _| x.wrapping_neg());
    check_d("mul.wide.u32 %q, %a, %a;", |_, _, _, a| u64::from(a) * u64::from(a));
    check_d("mad.wide.s32 %q, %a, -3, %x;", |x, _, _, a| {
        x.wrapping_add((i64::from(a as i32) * -3) as u64)
    });
}

#[test]
fn carry_chains_make_wide_numbers() {
    // 128-bit sum and difference of (x, y) and (y, z).
    check_d("add.cc.u64 %d0, %x, %y; addc.u64 %q, %y, %z;", |x, y, z, _| {
        let a = u128::from(y) << 64 | u128::from(x);
        let b = u128::from(z) << 64 | u128::from(y);
        (a.wrapping_add(b) >> 64) as u64
    });
    check_d("sub.cc.u64 %d0, %x, %y; subc.u64 %q, %y, %z;", |x, y, z, _| {
        let a = u128::from(y) << 64 | u128::from(x);
        let b = u128::from(z) << 64 | u128::from(y);
        (a.wrapping_sub(b) >> 64) as u64
    });
    // The upper 64 bits of a 96-bit product plus a word, by 32-bit pieces.
    check_d(
        "mov.b64 {%r0, %r1}, %x;
         mul.lo.u32 %r2, %r0, %a; mul.hi.u32 %r3, %r0, %a;
         mad.lo.cc.u32 %r3, %r1, %a, %r3; madc.hi.u32 %r4, %r1, %a, 0;
         mov.b64 %q, {%r3, %r4};",
        |x, _, _, a| (u128::from(x) * u128::from(a) >> 32) as u64,
    );
    // `.cc` on `addc` hands the carry on.
    check_d(
        "mov.b64 {%r0, %r1}, %x; mov.b64 {%r2, %r3}, %y;
         add.cc.u32 %r4, %r0, %r2; addc.cc.u32 %r5, %r1, %r3; addc.u32 %r6, 0, 0;
         mov.b64 %q, {%r5, %r6};",
        |x, y, _, _| (u128::from(x) + u128::from(y) >> 32) as u64,
    );
}
