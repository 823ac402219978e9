//! `cvt`.

use half::{bf16, f16};

use crate::harness::{check_d, check_floats, check1, check2};

#[test]
fn between_integers() {
    check1("cvt.u32.u8 %o, %a;", |a| a & 0xFF);
    check1("cvt.s32.s8 %o, %a;", |a| i32::from(a as i8) as u32);
    check1("cvt.s32.s16 %o, %h0;", |a| i32::from(a as i16) as u32);
    check1("cvt.u16.u32 %s0, %a; cvt.u32.u16 %o, %s0;", |a| a & 0xFFFF);
    check1("cvt.s8.s32 %o, %a;", |a| i32::from(a as i8) as u32);
    check1("cvt.sat.u8.s32 %o, %a;", |a| (a as i32).clamp(0, 255) as u32);
    check1("cvt.sat.s16.s32 %s0, %a; cvt.s32.s16 %o, %s0;", |a| {
        (a as i32).clamp(-32768, 32767) as u32
    });
    check_d("cvt.s64.s32 %q, %a;", |_, _, _, a| i64::from(a as i32) as u64);
    check_d("cvt.u64.u32 %q, %a;", |_, _, _, a| a.into());
    check_d("cvt.u32.u64 %r0, %x; cvt.u64.u32 %q, %r0;", |x, _, _, _| x & 0xFFFF_FFFF);
    check_d("cvt.u64.s8 %q, %a;", |_, _, _, a| i64::from(a as i8) as u64);
}

#[test]
fn integers_to_floats() {
    check1("cvt.rn.f32.s32 %o, %a;", |a| (a as i32 as f32).to_bits());
    check1("cvt.rn.f32.u32 %o, %a;", |a| (a as f32).to_bits());
    check_d("cvt.rn.f64.s64 %q, %x;", |x, _, _, _| (x as i64 as f64).to_bits());
    check_d("cvt.rn.f64.u64 %q, %x;", |x, _, _, _| (x as f64).to_bits());
    check1("cvt.rn.f16.s32 %s0, %a; cvt.u32.u16 %o, %s0;", |a| {
        f16::from_f64(f64::from(a as i32)).to_bits().into()
    });
}

#[test]
fn floats_to_integers_saturate() {
    check_floats("cvt.rzi.s32.f32 %o, %a;", |a, _, _| a as i32 as u32);
    check_floats("cvt.rzi.u32.f32 %o, %a;", |a, _, _| a as u32);
    check_floats("cvt.rni.s32.f32 %o, %a;", |a, _, _| a.round_ties_even() as i32 as u32);
    check_floats("cvt.rmi.s32.f32 %o, %a;", |a, _, _| a.floor() as i32 as u32);
    check_floats("cvt.rpi.s32.f32 %o, %a;", |a, _, _| a.ceil() as i32 as u32);
    check_floats("cvt.rzi.u8.f32 %o, %a;", |a, _, _| u32::from(a as u8));
}

#[test]
fn between_floats() {
    check_floats("cvt.rn.f16.f32 %s0, %a; cvt.f32.f16 %o, %s0;", |a, _, _| {
        f16::from_f32(a).to_f32().to_bits()
    });
    check_floats("cvt.rn.bf16.f32 %s0, %a; cvt.f32.bf16 %o, %s0;", |a, _, _| {
        bf16::from_f32(a).to_f32().to_bits()
    });
    check_floats("cvt.f64.f32 %q, %a; cvt.rn.f32.f64 %o, %q;", |a, _, _| a.to_bits());
    check_floats("cvt.rni.f32.f32 %o, %a;", |a, _, _| a.round_ties_even().to_bits());
    check_floats("cvt.sat.f32.f32 %o, %a;", |a, _, _| {
        if a.is_nan() { 0 } else { a.clamp(0.0, 1.0).abs().to_bits() }
    });
    check_floats("cvt.rna.tf32.f32 %o, %a;", |a, _, _| {
        if !a.is_finite() {
            return if a.is_nan() { 0x7FFF_FFFF } else { a.to_bits() };
        }
        (a.to_bits() + 0x1000) & 0xFFFF_E000
    });
}

#[test]
fn packed_halves_take_the_first_source_high() {
    check_floats(
        "cvt.rn.f16x2.f32 %r0, %a, %b; shr.u32 %r1, %r0, 16; cvt.u16.u32 %s0, %r1; cvt.f32.f16 %o, %s0;",
        |a, _, _| f16::from_f32(a).to_f32().to_bits(),
    );
    check_floats("cvt.rn.bf16x2.f32 %r0, %a, %b; shl.b32 %o, %r0, 16;", |_, b, _| {
        bf16::from_f32(b).to_f32().to_bits()
    });
    check_floats(
        "cvt.rn.relu.f16x2.f32 %r0, %a, %b; cvt.u16.u32 %s0, %r0; cvt.f32.f16 %o, %s0;",
        |_, b, _| {
            if b < 0.0 || b == 0.0 { 0 } else { f16::from_f32(b).to_f32().to_bits() }
        },
    );
}

#[test]
fn eight_bit_floats() {
    // Every e4m3 code, by its definition: bias 7, no infinity, 0x7F is NaN.
    let value = |code: u32| -> f64 {
        let (exponent, mantissa) = ((code >> 3 & 15) as i32, f64::from(code & 7));
        let magnitude = if exponent == 0 {
            mantissa / 8.0 * 2.0_f64.powi(-6)
        } else {
            (1.0 + mantissa / 8.0) * 2.0_f64.powi(exponent - 7)
        };
        if code & 0x7F == 0x7F {
            f64::NAN
        } else if code & 0x80 == 0 {
            magnitude
        } else {
            -magnitude
        }
    };
    check1("cvt.u16.u32 %s0, %a; cvt.rn.f16x2.e4m3x2 %o, %s0;", |a| {
        let half = |code: u32| {
            let x = f16::from_f64(value(code));
            u32::from(if x.is_nan() { 0x7FFF } else { x.to_bits() })
        };
        half(a & 0xFF) | half(a >> 8 & 0xFF) << 16
    });
    check_floats("cvt.rn.satfinite.e4m3x2.f32 %s0, %a, %b; cvt.u32.u16 %o, %s0;", |a, b, _| {
        let one = |x: f32| -> u32 {
            if x.is_nan() {
                return 0x7F;
            }
            let sign = x.to_bits() >> 31 << 7;
            let x = f64::from(x.abs()).min(448.0);
            // The nearest code, the even one of two.
            let mut codes: Vec<u32> = (0..0x7F).collect();
            codes.sort_by(|p, q| {
                let (dp, dq) = ((value(*p) - x).abs(), (value(*q) - x).abs());
                dp.total_cmp(&dq).then((p & 1).cmp(&(q & 1)))
            });
            sign | codes[0]
        };
        one(a) << 8 | one(b)
    });
}

#[test]
fn packed_integers_saturate() {
    check2("cvt.pack.sat.s16.s32 %o, %a, %b;", |a, b| {
        let one = |x: u32| (x as i32).clamp(-32768, 32767) as u32 & 0xFFFF;
        one(a) << 16 | one(b)
    });
    check2("cvt.pack.sat.u8.s32.b32 %o, %a, %b, 0x1234;", |a, b| {
        let one = |x: u32| (x as i32).clamp(0, 255) as u32;
        0x1234 << 16 | one(a) << 8 | one(b)
    });
}
