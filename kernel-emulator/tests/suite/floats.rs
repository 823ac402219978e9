//! Floating-point arithmetic against the host's.

use half::{bf16, f16};

use crate::harness::{check_d, check_floats, check2, check3};

fn flush(x: f32) -> f32 {
    if x.is_subnormal() { 0.0_f32.copysign(x) } else { x }
}

#[test]
fn f32_to_nearest() {
    check_floats("add.f32 %o, %a, %b;", |a, b, _| (a + b).to_bits());
    check_floats("sub.rn.f32 %o, %a, %b;", |a, b, _| (a - b).to_bits());
    check_floats("mul.f32 %o, %a, %b;", |a, b, _| (a * b).to_bits());
    check_floats("fma.rn.f32 %o, %a, %b, %c;", |a, b, c| a.mul_add(b, c).to_bits());
    check_floats("div.rn.f32 %o, %a, %b;", |a, b, _| (a / b).to_bits());
    check_floats("sqrt.rn.f32 %o, %a;", |a, _, _| a.sqrt().to_bits());
    check_floats("rcp.rn.f32 %o, %a;", |a, _, _| (1.0 / a).to_bits());
    check_floats("neg.f32 %o, %a;", |a, _, _| (-a).to_bits());
    check_floats("abs.f32 %o, %a;", |a, _, _| a.abs().to_bits());
}

#[test]
fn nan_is_canonical() {
    check2("mov.b32 %r0, 0xffc12345; add.f32 %o, %r0, 0f3F800000;", |_, _| 0x7FFF_FFFF);
}

#[test]
fn f32_modifiers() {
    check_floats("add.ftz.f32 %o, %a, %b;", |a, b, _| flush(flush(a) + flush(b)).to_bits());
    check_floats("mul.sat.f32 %o, %a, %b;", |a, b, _| {
        let x = a * b;
        if x.is_nan() { 0 } else { x.clamp(0.0, 1.0).abs().to_bits() }
    });
    // Directed rounding brackets the exact sum.
    check_floats("add.rz.f32 %o, %a, %b;", |a, b, _| {
        let (a, b) = (f64::from(a), f64::from(b));
        let sum = a + b;
        let near = sum as f32;
        if !sum.is_finite() {
            return near.to_bits();
        }
        if near.is_infinite() {
            return f32::MAX.copysign(near).to_bits();
        }
        // What the f64 sum lost decides where it is exact in f32.
        let lost = (a - (sum - (sum - a))) + (b - (sum - a));
        let beyond = (f64::from(near) - sum) - lost;
        let away = beyond != 0.0 && (beyond > 0.0) == (near > 0.0);
        if away { near.to_bits() - 1 } else { near.to_bits() }
    });
}

#[test]
fn f32_extremes() {
    check_floats("min.f32 %o, %a, %b;", |a, b, _| {
        if a == 0.0 && b == 0.0 {
            return (a.to_bits() | b.to_bits()) & 0x8000_0000;
        }
        a.min(b).to_bits()
    });
    check_floats("max.NaN.f32 %o, %a, %b;", |a, b, _| {
        if a.is_nan() || b.is_nan() {
            return 0x7FFF_FFFF;
        }
        if a == 0.0 && b == 0.0 {
            return a.to_bits() & b.to_bits();
        }
        a.max(b).to_bits()
    });
    check_floats("copysign.f32 %o, %a, %b;", |a, b, _| {
        a.to_bits() & 0x8000_0000 | b.to_bits() & 0x7FFF_FFFF
    });
}

/// Whether `actual` is within `ulps` of `exact`, in units of the last place of f32.
fn close(actual: u32, exact: f64, ulps: f64) -> bool {
    let actual = f32::from_bits(actual);
    let near = exact as f32;
    if near.is_nan() || near.is_infinite() || near.abs() < f32::MIN_POSITIVE {
        return actual.to_bits() == near.to_bits()
            || actual.is_nan() && near.is_nan()
            || (f64::from(actual) - exact).abs() <= f64::from(f32::MIN_POSITIVE);
    }
    let unit = f64::from(f32::from_bits(near.abs().to_bits() + 1)) - f64::from(near.abs());
    (f64::from(actual) - exact).abs() <= ulps * unit
}

#[test]
fn approximate_functions_are_close() {
    // The bounds of the manual, in units of the last place or absolute.
    let xs: [u32; 32] = std::array::from_fn(|i| (0.05_f32 + 0.37 * i as f32).to_bits());
    let run = |body: &str| crate::harness::lanes(body, [&xs, &[0; 32], &[0; 32]], [&[0; 32]; 3]).0;
    let table: [(&str, f64, fn(f64) -> f64); 7] = [
        ("rcp.approx.f32 %o, %a;", 1.0, |x| 1.0 / x),
        ("sqrt.approx.f32 %o, %a;", 3.0, f64::sqrt),
        ("rsqrt.approx.f32 %o, %a;", 3.0, |x| 1.0 / x.sqrt()),
        ("ex2.approx.f32 %o, %a;", 3.0, f64::exp2),
        ("lg2.approx.f32 %o, %a;", 8.0, f64::log2),
        ("tanh.approx.f32 %o, %a;", 8300.0, f64::tanh),
        ("div.full.f32 %o, 0f40400000, %a;", 2.5, |x| 3.0 / x),
    ];
    for (body, ulps, exact) in table {
        let o = run(body);
        for (x, actual) in xs.iter().zip(o) {
            let x = f64::from(f32::from_bits(*x));
            assert!(close(actual, exact(x), ulps), "{body} at {x}: {}", f32::from_bits(actual));
        }
    }
    for (body, exact) in [
        ("sin.approx.f32 %o, %a;", f64::sin as fn(f64) -> f64),
        ("cos.approx.f32 %o, %a;", f64::cos as fn(f64) -> f64),
    ] {
        for (x, actual) in xs.iter().zip(run(body)) {
            let x = f64::from(f32::from_bits(*x));
            let difference = f64::from(f32::from_bits(actual)) - exact(x);
            assert!(difference.abs() < 1e-5, "{body} at {x}: {}", f32::from_bits(actual));
        }
    }
}

#[test]
fn f64_arithmetic() {
    let f = f64::from_bits;
    let nan = |bits: u64| if f(bits).is_nan() { 0 } else { bits };
    // NaN results are made 0 on both sides: payloads are not compared.
    let quiet =
        |text: &str| format!("{text} testp.notanumber.f64 %p0, %q; selp.b64 %q, 0, %q, %p0;");
    check_d(&quiet("add.rn.f64 %q, %x, %y;"), |x, y, _, _| nan((f(x) + f(y)).to_bits()));
    check_d(&quiet("mul.f64 %q, %x, %y;"), |x, y, _, _| nan((f(x) * f(y)).to_bits()));
    check_d(&quiet("fma.rn.f64 %q, %x, %y, %z;"), |x, y, z, _| {
        nan(f(x).mul_add(f(y), f(z)).to_bits())
    });
    check_d(&quiet("div.rn.f64 %q, %x, %y;"), |x, y, _, _| nan((f(x) / f(y)).to_bits()));
    check_d(&quiet("sqrt.rn.f64 %q, %x;"), |x, _, _, _| nan(f(x).sqrt().to_bits()));
    check_d(&quiet("max.f64 %q, %x, %y;"), |x, y, _, _| nan(f(x).max(f(y)).to_bits()));
}

fn h(bits: u32) -> f16 {
    f16::from_bits(bits as u16)
}

fn b(bits: u32) -> bf16 {
    bf16::from_bits(bits as u16)
}

/// Rounding an exact f64 to a half once.
fn once16(x: f64) -> u32 {
    let r = f16::from_f64(x);
    if r.is_nan() { 0x7FFF } else { r.to_bits().into() }
}

fn once_b(x: f64) -> u32 {
    let r = bf16::from_f64(x);
    if r.is_nan() { 0x7FFF } else { r.to_bits().into() }
}

#[test]
fn halves() {
    let out = |text: &str| format!("{text} cvt.u32.u16 %o, %s0;");
    check2(&out("add.f16 %s0, %h0, %h1;"), |x, y| once16(h(x).to_f64() + h(y).to_f64()));
    check2(&out("sub.rn.f16 %s0, %h0, %h1;"), |x, y| once16(h(x).to_f64() - h(y).to_f64()));
    check2(&out("mul.f16 %s0, %h0, %h1;"), |x, y| once16(h(x).to_f64() * h(y).to_f64()));
    check3(&out("fma.rn.f16 %s0, %h0, %h1, %h2;"), |x, y, z| {
        // A product of two halves and a half: the exact sum fits f64 (at most 22 + 40 bits apart is
        // rounded to odd by none of the operands here, since f16 exponents span 40 bits).
        once16(h(x).to_f64().mul_add(h(y).to_f64(), h(z).to_f64()))
    });
    check2("mul.f16x2 %o, %a, %b;", |x, y| {
        once16(h(x).to_f64() * h(y).to_f64())
            | once16(h(x >> 16).to_f64() * h(y >> 16).to_f64()) << 16
    });
    check2("mul.bf16x2 %o, %a, %b;", |x, y| {
        once_b(b(x).to_f64() * b(y).to_f64())
            | once_b(b(x >> 16).to_f64() * b(y >> 16).to_f64()) << 16
    });
    // Of numbers only: what becomes of the payload of a NaN is not promised.
    check2("and.b32 %r0, %a, 0xBFFFBFFF; neg.bf16x2 %o, %r0;", |x, _| {
        x & 0xBFFF_BFFF ^ 0x8000_8000
    });
    check2("and.b32 %r0, %a, 0xBFFFBFFF; abs.f16x2 %o, %r0;", |x, _| x & 0x3FFF_3FFF);
    check2("max.f16x2 %o, %a, %b;", |x, y| {
        let one = |x: u32, y: u32| -> u32 {
            let (p, q) = (h(x), h(y));
            if p.is_nan() && q.is_nan() {
                0x7FFF
            } else if p.is_nan() || !q.is_nan() && (q > p || q == p && p.is_sign_negative()) {
                q.to_bits().into()
            } else {
                p.to_bits().into()
            }
        };
        one(x, y) | one(x >> 16, y >> 16) << 16
    });
}

#[test]
fn pairs_of_f32() {
    check_d("add.rn.f32x2 %q, %x, %y;", |x, y, _, _| {
        let sum = |s: u32| {
            let r = f32::from_bits((x >> s) as u32) + f32::from_bits((y >> s) as u32);
            u64::from(if r.is_nan() { 0x7FFF_FFFF } else { r.to_bits() }) << s
        };
        sum(0) | sum(32)
    });
}
