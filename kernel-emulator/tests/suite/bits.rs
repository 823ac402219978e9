//! Logic, shifts, bit fields, permutations, dot products.

use crate::harness::{check_d, check1, check2, check3};

#[test]
fn logic() {
    check2("and.b32 %o, %a, %b;", |a, b| a & b);
    check2("or.b32 %o, %a, %b;", |a, b| a | b);
    check2("xor.b32 %o, %a, 0xFF00FF00;", |a, _| a ^ 0xFF00_FF00);
    check1("not.b32 %o, %a;", |a| !a);
    check1("cnot.b32 %o, %a;", |a| u32::from(a == 0));
    check1("not.b16 %s0, %h0; cvt.u32.u16 %o, %s0;", |a| !a & 0xFFFF);
    check_d("and.b64 %q, %x, %y;", |x, y, _, _| x & y);
    check_d("not.b64 %q, %x;", |x, _, _, _| !x);
}

#[test]
fn lop3_has_every_table() {
    for table in [0x00u32, 0x80, 0xFE, 0x96, 0x1A, 0xEA, 0xE8, 0xFF] {
        check3(&format!("lop3.b32 %o, %a, %b, %c, {table};"), |a, b, c| {
            (0..32).fold(0, |out, i| {
                let bit = |x: u32| x >> i & 1;
                let index = bit(a) << 2 | bit(b) << 1 | bit(c);
                out | (table >> index & 1) << i
            })
        });
    }
    check3(
        "setp.eq.u32 %p0, %a, %a; lop3.and.b32 %r0|%p1, %a, %b, %c, 0x80, %p0; selp.u32 %o, 1, 0, %p1;",
        |a, b, c| u32::from(a & b & c != 0),
    );
}

#[test]
fn shifts_beyond_the_width_give_the_fill() {
    check2("shl.b32 %o, %a, %b;", |a, b| a.checked_shl(b).unwrap_or(0));
    check2("shr.u32 %o, %a, %b;", |a, b| a.checked_shr(b).unwrap_or(0));
    check2("shr.s32 %o, %a, %b;", |a, b| (a as i32 >> b.min(31)) as u32);
    check2("shl.b16 %s0, %h0, %b; cvt.u32.u16 %o, %s0;", |a, b| {
        if b > 15 { 0 } else { (a & 0xFFFF) << b & 0xFFFF }
    });
    check2("shr.s16 %s0, %h0, %b; cvt.u32.u16 %o, %s0;", |a, b| {
        u32::from((a as i16 >> b.min(15)) as u16)
    });
    check_d("shl.b64 %q, %x, %a;", |x, _, _, a| x.checked_shl(a).unwrap_or(0));
    check_d("shr.s64 %q, %x, %a;", |x, _, _, a| (x as i64 >> a.min(63)) as u64);
}

#[test]
fn funnel_shifts() {
    let both = |a: u32, b: u32| u64::from(b) << 32 | u64::from(a);
    check3("shf.l.wrap.b32 %o, %a, %b, %c;", |a, b, c| (both(a, b) << (c & 31) >> 32) as u32);
    check3("shf.l.clamp.b32 %o, %a, %b, %c;", |a, b, c| (both(a, b) << c.min(32) >> 32) as u32);
    check3("shf.r.wrap.b32 %o, %a, %b, %c;", |a, b, c| (both(a, b) >> (c & 31)) as u32);
    check3("shf.r.clamp.b32 %o, %a, %b, %c;", |a, b, c| (both(a, b) >> c.min(32)) as u32);
}

#[test]
fn counts() {
    check1("popc.b32 %o, %a;", u32::count_ones);
    check1("clz.b32 %o, %a;", u32::leading_zeros);
    check1("brev.b32 %o, %a;", u32::reverse_bits);
    check1("bfind.u32 %o, %a;", |a| a.checked_ilog2().unwrap_or(u32::MAX));
    check1("bfind.s32 %o, %a;", |a| {
        let a = if (a as i32) < 0 { !a } else { a };
        a.checked_ilog2().unwrap_or(u32::MAX)
    });
    check1("bfind.shiftamt.u32 %o, %a;", |a| if a == 0 { u32::MAX } else { a.leading_zeros() });
    check_d("popc.b64 %r0, %x; cvt.u64.u32 %q, %r0;", |x, _, _, _| x.count_ones().into());
    check_d("clz.b64 %r0, %x; cvt.u64.u32 %q, %r0;", |x, _, _, _| x.leading_zeros().into());
    check_d("brev.b64 %q, %x;", |x, _, _, _| x.reverse_bits());
}

#[test]
fn bit_fields() {
    // The lowest 8 bits of position and length count.
    check3("bfe.u32 %o, %a, %b, %c;", |a, b, c| {
        let (start, length) = (b & 0xFF, c & 0xFF);
        (0..32.min(length))
            .fold(0, |out, i| if start + i > 31 { out } else { out | (a >> (start + i) & 1) << i })
    });
    check3("bfe.s32 %o, %a, %b, %c;", |a, b, c| {
        let (start, length) = (b & 0xFF, c & 0xFF);
        if length == 0 {
            return 0;
        }
        let sign = a >> (start + length - 1).min(31) & 1;
        (0..32).fold(0, |out, i| {
            let bit = if i < length && start + i <= 31 { a >> (start + i) & 1 } else { sign };
            out | bit << i
        })
    });
    check3("bfi.b32 %o, %a, %b, %c, 7;", |a, b, c| {
        let start = c & 0xFF;
        (0..7).fold(b, |out, i| {
            if start + i > 31 {
                out
            } else {
                out & !(1 << (start + i)) | (a >> i & 1) << (start + i)
            }
        })
    });
    check_d("bfe.u64 %q, %x, 20, 30;", |x, _, _, _| x >> 20 & 0x3FFF_FFFF);
    check_d("bfi.b64 %q, %x, %y, 40, 8;", |x, y, _, _| y & !(0xFF << 40) | (x & 0xFF) << 40);
    check2("and.b32 %a, %a, 63; and.b32 %b, %b, 63; bmsk.clamp.b32 %o, %a, %b;", |a, b| {
        (0..32).filter(|i| *i >= a & 63 && *i < (a & 63) + (b & 63)).fold(0, |m, i| m | 1 << i)
    });
    check2("or.b32 %b, %b, 1; szext.wrap.s32 %o, %a, %b;", |a, b| {
        let n = (b | 1) & 31;
        ((a << (32 - n)) as i32 >> (32 - n)) as u32
    });
}

#[test]
fn nth_set_bit() {
    check2("fns.b32 %o, %a, 0, 3;", |a, _| {
        (0..32).filter(|i| a >> i & 1 != 0).nth(2).unwrap_or(u32::MAX)
    });
    check2("fns.b32 %o, %a, 31, -2;", |a, _| {
        (0..32).rev().filter(|i| a >> i & 1 != 0).nth(1).unwrap_or(u32::MAX)
    });
}

#[test]
fn byte_permutations() {
    let bytes = |a: u32, b: u32| {
        let [a, b] = [a.to_le_bytes(), b.to_le_bytes()];
        [a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]]
    };
    check3("prmt.b32 %o, %a, %b, %c;", |a, b, c| {
        u32::from_le_bytes(std::array::from_fn(|i| {
            let selector = c >> (4 * i) & 15;
            let byte = bytes(a, b)[(selector & 7) as usize];
            if selector & 8 == 0 { byte } else { (byte as i8 >> 7) as u8 }
        }))
    });
    check3("prmt.b32.f4e %o, %a, %b, %c;", |a, b, c| {
        u32::from_le_bytes(std::array::from_fn(|i| bytes(a, b)[((c & 3) as usize + i) % 8]))
    });
    check3("prmt.b32.rc16 %o, %a, %b, %c;", |a, _, c| {
        let half = if c & 1 == 0 { a & 0xFFFF } else { a >> 16 };
        half << 16 | half
    });
}

#[test]
fn dot_products() {
    check3("dp4a.s32.u32 %o, %a, %b, %c;", |a, b, c| {
        let (x, y) = (a.to_le_bytes(), b.to_le_bytes());
        let sum: i32 = (0..4).map(|i| i32::from(x[i] as i8) * i32::from(y[i])).sum();
        c.wrapping_add(sum as u32)
    });
    check3("dp2a.hi.u32.s32 %o, %a, %b, %c;", |a, b, c| {
        let y = b.to_le_bytes();
        let sum = i64::from(a & 0xFFFF) * i64::from(y[2] as i8)
            + i64::from(a >> 16) * i64::from(y[3] as i8);
        c.wrapping_add(sum as u32)
    });
}
