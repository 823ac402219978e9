//! Comparison and selection.

use half::f16;

use crate::harness::{check_d, check_floats, check1, check2, check3};

#[test]
fn integers() {
    for (op, f) in [
        ("eq", (|a, b| a == b) as fn(i32, i32) -> bool),
        ("ne", |a, b| a != b),
        ("lt", |a, b| a < b),
        ("le", |a, b| a <= b),
        ("gt", |a, b| a > b),
        ("ge", |a, b| a >= b),
    ] {
        check2(&format!("setp.{op}.s32 %p0, %a, %b; selp.u32 %o, 1, 0, %p0;"), |a, b| {
            u32::from(f(a as i32, b as i32))
        });
        check2(&format!("setp.{op}.s16 %p0, %h0, %h1; selp.u32 %o, 1, 0, %p0;"), |a, b| {
            u32::from(f((a as i16).into(), (b as i16).into()))
        });
    }
    check2("setp.lo.u32 %p0, %a, %b; selp.u32 %o, 1, 0, %p0;", |a, b| u32::from(a < b));
    check2("setp.hs.u32 %p0, %a, %b; selp.u32 %o, 1, 0, %p0;", |a, b| u32::from(a >= b));
    check_d("setp.gt.s64 %p0, %x, %y; selp.u64 %q, 1, 0, %p0;", |x, y, _, _| {
        u64::from(x as i64 > y as i64)
    });
}

#[test]
fn floats_and_nan() {
    for (op, f) in [
        ("eq", (|a, b| a == b) as fn(f32, f32) -> bool),
        ("ne", |a, b| a < b || a > b),
        ("lt", |a, b| a < b),
        ("ge", |a, b| a >= b),
        ("neu", |a, b| a != b),
        ("ltu", |a, b| !(a >= b)),
        ("equ", |a, b| !(a < b || a > b)),
        ("num", |a, b| !a.is_nan() && !b.is_nan()),
        ("nan", |a, b| a.is_nan() || b.is_nan()),
    ] {
        check_floats(&format!("setp.{op}.f32 %p0, %a, %b; selp.u32 %o, 1, 0, %p0;"), |a, b, _| {
            u32::from(f(a, b))
        });
    }
    check2("setp.lt.f16 %p0, %h0, %h1; selp.u32 %o, 1, 0, %p0;", |a, b| {
        u32::from(f16::from_bits(a as u16) < f16::from_bits(b as u16))
    });
    check2(
        "setp.gt.f16x2 %p0|%p1, %a, %b; selp.u32 %o, 1, 0, %p0; @%p1 add.u32 %o, %o, 2;",
        |a, b| {
            let gt = |s: u32| {
                u32::from(f16::from_bits((a >> s) as u16) > f16::from_bits((b >> s) as u16))
            };
            gt(0) + 2 * gt(16)
        },
    );
}

#[test]
fn two_results_and_a_third_operand() {
    check3(
        "setp.ne.u32 %p2, %c, 0;
         setp.lt.and.u32 %p0|%p1, %a, %b, %p2;
         selp.u32 %o, 1, 0, %p0; @%p1 add.u32 %o, %o, 2;",
        |a, b, c| u32::from(a < b && c != 0) + 2 * u32::from(a >= b && c != 0),
    );
    check3(
        "setp.ne.u32 %p2, %c, 0; setp.lt.xor.u32 %p0, %a, %b, !%p2; selp.u32 %o, 1, 0, %p0;",
        |a, b, c| u32::from((a < b) ^ (c == 0)),
    );
}

#[test]
fn set_writes_masks_or_ones() {
    check2("set.lt.u32.u32 %o, %a, %b;", |a, b| if a < b { u32::MAX } else { 0 });
    check_floats("set.gt.f32.f32 %o, %a, %b;", |a, b, _| if a > b { 0x3F80_0000 } else { 0 });
    check2("set.gt.f16x2.f16x2 %o, %a, %b;", |a, b| {
        let gt = |s: u32| {
            u32::from(f16::from_bits((a >> s) as u16) > f16::from_bits((b >> s) as u16)) * 0x3C00
        };
        gt(0) | gt(16) << 16
    });
}

#[test]
fn selection() {
    check3(
        "setp.gt.s32 %p0, %c, 0; selp.b32 %o, %a, %b, %p0;",
        |a, b, c| {
            if c as i32 > 0 { a } else { b }
        },
    );
    check3("slct.u32.s32 %o, %a, %b, %c;", |a, b, c| if c as i32 >= 0 { a } else { b });
    check_floats("slct.f32.f32 %o, %a, %b, %c;", |a, b, c| {
        (if c >= 0.0 { a } else { b }).to_bits()
    });
}

#[test]
fn properties() {
    check_floats("testp.finite.f32 %p0, %a; selp.u32 %o, 1, 0, %p0;", |a, _, _| {
        u32::from(a.is_finite())
    });
    check_floats("testp.subnormal.f32 %p0, %a; selp.u32 %o, 1, 0, %p0;", |a, _, _| {
        u32::from(a.is_subnormal())
    });
}

#[test]
fn logic_of_predicates() {
    check2(
        "setp.ne.u32 %p0, %a, 0; setp.lt.s32 %p1, %b, 0; not.pred %p2, %p0;
         and.pred %p3, %p0, %p1; or.pred %p4, %p2, %p1; xor.pred %p5, %p0, !%p1; mov.pred %p6, 1;
         selp.u32 %o, 1, 0, %p3; @%p4 add.u32 %o, %o, 2; @%p5 add.u32 %o, %o, 4; @%p6 add.u32 %o, %o, 8;",
        |a, b| {
            let (p, q) = (a != 0, (b as i32) < 0);
            u32::from(p && q) + 2 * u32::from(!p || q) + 4 * u32::from(p == q) + 8
        },
    );
    check1("setp.eq.u32 %p0, %a, %a; @!%p0 mov.u32 %o, 1;", |_| 0);
}
