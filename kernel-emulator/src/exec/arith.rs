//! Arithmetic, logic, shifts and bit fields (PTX ISA, "Integer Arithmetic Instructions" to "Half
//! Precision Floating Point Instructions", "Logic and Shift Instructions").
//!
//! Every function computes all 32 lanes, which vectorises, and writes those of the mask.

use crate::code::ops::{BitField, Carry, CarryKind};
use crate::code::{
    CountOp, D, D1, D2, D3, Doubles, IntBinary, IntTernary, LANES, Lop3Pred, NarrowBinary,
    NarrowTernary, NarrowUnary, ShiftOp, Slot, W, W1, W2, W3, Words,
};
use crate::fault::ByZero;
use crate::machine::{Registers, Warp};
use crate::numeric::approx;
use crate::numeric::integer::{self, Int};
use crate::numeric::lossy::{low16, low32};
use crate::numeric::narrow::{self, Half};
use crate::numeric::scalar::{self, Mode};

#[inline]
fn map(a: &Words, f: impl Fn(u32) -> u32) -> Words {
    let mut out = [0; LANES];
    for lane in 0..LANES {
        out[lane] = f(a[lane]);
    }
    out
}

#[inline]
fn zip(a: &Words, b: &Words, f: impl Fn(u32, u32) -> u32) -> Words {
    let mut out = [0; LANES];
    for lane in 0..LANES {
        out[lane] = f(a[lane], b[lane]);
    }
    out
}

#[inline]
fn zip3(a: &Words, b: &Words, c: &Words, f: impl Fn(u32, u32, u32) -> u32) -> Words {
    let mut out = [0; LANES];
    for lane in 0..LANES {
        out[lane] = f(a[lane], b[lane], c[lane]);
    }
    out
}

#[inline]
fn map_d(a: &Doubles, f: impl Fn(u64) -> u64) -> Doubles {
    let mut out = [0; LANES];
    for lane in 0..LANES {
        out[lane] = f(a[lane]);
    }
    out
}

#[inline]
fn zip_d(a: &Doubles, b: &Doubles, f: impl Fn(u64, u64) -> u64) -> Doubles {
    let mut out = [0; LANES];
    for lane in 0..LANES {
        out[lane] = f(a[lane], b[lane]);
    }
    out
}

#[inline]
fn zip3_d(a: &Doubles, b: &Doubles, c: &Doubles, f: impl Fn(u64, u64, u64) -> u64) -> Doubles {
    let mut out = [0; LANES];
    for lane in 0..LANES {
        out[lane] = f(a[lane], b[lane], c[lane]);
    }
    out
}

/// Applies an f32 function to both halves of 64 bits.
#[inline]
fn pair(a: u64, b: u64, f: impl Fn(u32, u32) -> u32) -> u64 {
    let low = f(low32(a), low32(b));
    let high = f(high(a), high(b));
    u64::from(high) << 32 | u64::from(low)
}

const fn high(a: u64) -> u32 {
    (a >> 32) as u32
}

const fn signed(a: u32) -> i32 {
    a.cast_signed()
}

fn narrow1(ty: Half, op: NarrowUnary, a: u16) -> u16 {
    match op {
        NarrowUnary::Neg { ftz } => narrow::neg(ty, a, ftz),
        NarrowUnary::Abs { ftz } => narrow::abs(ty, a, ftz),
        NarrowUnary::Ex2 { ftz } => approx::ex2_half(ty, a, ftz),
        NarrowUnary::Tanh => approx::tanh_half(ty, a),
    }
}

#[inline]
fn narrow2(ty: Half, op: NarrowBinary, a: u16, b: u16) -> u16 {
    match op {
        NarrowBinary::Add(mode) => narrow::add(ty, a, b, mode),
        NarrowBinary::Sub(mode) => narrow::sub(ty, a, b, mode),
        NarrowBinary::Mul(mode) => narrow::mul(ty, a, b, mode),
        NarrowBinary::Extreme(which, selection) => narrow::extreme(which, ty, a, b, selection),
    }
}

#[inline]
fn narrow3(ty: Half, op: NarrowTernary, a: u16, b: u16, c: u16) -> u16 {
    let NarrowTernary::Fma(mode) = op;
    narrow::fma(ty, a, b, c, mode)
}

/// One 32-bit operand.
pub(crate) fn w1(regs: &mut Registers, op: W1, d: W, a: W, mask: u32) {
    let xs = regs.w(a);
    let out = match op {
        W1::Not => map(xs, |a| !a),
        W1::Not16 => map(xs, |a| !a & 0xFFFF),
        W1::Cnot { bits } => map(xs, |a| low32(integer::cnot(bits, a.into()))),
        W1::Neg(ty) => map(xs, |a| low32(integer::neg(ty, a.into()))),
        W1::Abs(ty) => map(xs, |a| low32(integer::abs(ty, a.into()))),
        W1::Popc => map(xs, u32::count_ones),
        W1::Clz => map(xs, u32::leading_zeros),
        W1::Brev => map(xs, u32::reverse_bits),
        W1::Bfind { ty, shift: false } => map(xs, |a| integer::bfind(ty, a.into())),
        W1::Bfind { ty, shift: true } => map(xs, |a| integer::bfind_shift(ty, a.into())),
        W1::FNeg { ftz } => map(xs, |a| scalar::neg_f32(a, ftz)),
        W1::FAbs { ftz } => map(xs, |a| scalar::abs_f32(a, ftz)),
        W1::FRcp(mode) => map(xs, |a| scalar::rcp_f32(a, mode)),
        W1::FSqrt(mode) => map(xs, |a| scalar::sqrt_f32(a, mode)),
        W1::RcpApprox { ftz } => map(xs, |a| approx::rcp_f32(a, ftz)),
        W1::SqrtApprox { ftz } => map(xs, |a| approx::sqrt_f32(a, ftz)),
        W1::RsqrtApprox { ftz } => map(xs, |a| approx::rsqrt_f32(a, ftz)),
        W1::SinApprox { ftz } => map(xs, |a| approx::sin_f32(a, ftz)),
        W1::CosApprox { ftz } => map(xs, |a| approx::cos_f32(a, ftz)),
        W1::Lg2Approx { ftz } => map(xs, |a| approx::lg2_f32(a, ftz)),
        W1::Ex2Approx { ftz } => map(xs, |a| approx::ex2_f32(a, ftz)),
        W1::TanhApprox => map(xs, approx::tanh_f32),
        W1::Half(ty, op) => map(xs, |a| narrow1(ty, op, low16(a.into())).into()),
        W1::Half2(ty, op) => map(xs, |a| narrow::map2(a, |a| narrow1(ty, op, a))),
    };
    let defined = regs.w_defined(a);
    regs.set_w(d, &out, mask, defined);
}

/// An integer operation of any type on 64-bit containers.
#[inline]
fn int2(op: IntBinary, ty: Int, a: u64, b: u64) -> u64 {
    match op {
        IntBinary::Add => integer::add(ty, a, b),
        IntBinary::Sub => integer::sub(ty, a, b),
        IntBinary::MulLo => integer::mul_lo(ty, a, b),
        IntBinary::MulHi => integer::mul_hi(ty, a, b),
        IntBinary::MulWide => integer::mul_wide(ty, a, b),
        IntBinary::Min => integer::min(ty, a, b),
        IntBinary::Max => integer::max(ty, a, b),
    }
}

#[inline]
fn int3(op: IntTernary, ty: Int, a: u64, b: u64, c: u64) -> u64 {
    match op {
        IntTernary::MadLo => integer::mad_lo(ty, a, b, c),
        IntTernary::MadHi => integer::mad_hi(ty, a, b, c),
        IntTernary::MadWide => integer::mad_wide(ty, a, b, c),
        IntTernary::Sad => integer::sad(ty, a, b, c),
    }
}

/// Two 32-bit operands.
pub(crate) fn w2(regs: &mut Registers, op: W2, d: W, a: W, b: W, mask: u32) {
    let (xs, ys) = (regs.w(a), regs.w(b));
    let out = match op {
        W2::Add => zip(xs, ys, u32::wrapping_add),
        W2::Sub => zip(xs, ys, u32::wrapping_sub),
        W2::Mul => zip(xs, ys, u32::wrapping_mul),
        W2::MulHiS => {
            zip(xs, ys, |a, b| high((i64::from(signed(a)) * i64::from(signed(b))).cast_unsigned()))
        }
        W2::MulHiU => zip(xs, ys, |a, b| high(u64::from(a) * u64::from(b))),
        W2::MinS => zip(xs, ys, |a, b| signed(a).min(signed(b)).cast_unsigned()),
        W2::MinU => zip(xs, ys, u32::min),
        W2::MaxS => zip(xs, ys, |a, b| signed(a).max(signed(b)).cast_unsigned()),
        W2::MaxU => zip(xs, ys, u32::max),
        W2::And => zip(xs, ys, |a, b| a & b),
        W2::Or => zip(xs, ys, |a, b| a | b),
        W2::Xor => zip(xs, ys, |a, b| a ^ b),
        W2::Shl => zip(xs, ys, |a, b| a.checked_shl(b).unwrap_or(0)),
        W2::ShrS => zip(xs, ys, |a, b| (signed(a) >> b.min(31)).cast_unsigned()),
        W2::ShrU => zip(xs, ys, |a, b| a.checked_shr(b).unwrap_or(0)),
        W2::AddSat => zip(xs, ys, integer::add_sat_s32),
        W2::SubSat => zip(xs, ys, integer::sub_sat_s32),
        W2::Mul24 { signed, hi: false } => zip(xs, ys, |a, b| integer::mul24_lo(signed, a, b)),
        W2::Mul24 { signed, hi: true } => zip(xs, ys, |a, b| integer::mul24_hi(signed, a, b)),
        W2::Shl16 => zip(xs, ys, |a, b| low32(integer::shl(16, a.into(), b))),
        W2::Shr16(ty) => zip(xs, ys, |a, b| low32(integer::shr(ty, a.into(), b))),
        W2::Int(op, ty) => zip(xs, ys, |a, b| low32(int2(op, ty, a.into(), b.into()))),
        W2::Relu(op) => zip(xs, ys, |a, b| {
            low32(integer::relu(Int::S32, int2(op, Int::S32, a.into(), b.into())))
        }),
        W2::Pair { op, ty, relu } => zip(xs, ys, |a, b| {
            integer::pairwise(a, b, |a, b| {
                let result = int2(op, ty, a, b);
                if relu { integer::relu(ty, result) } else { result }
            })
        }),
        W2::Bmsk(range) => zip(xs, ys, |a, b| integer::bmsk(a, b, range)),
        W2::Szext { signed, range } => zip(xs, ys, |a, b| integer::szext(signed, a, b, range)),
        W2::FAdd(Mode::RN) => zip(xs, ys, |a, b| scalar::add_f32(a, b, Mode::RN)),
        W2::FAdd(mode) => zip(xs, ys, |a, b| scalar::add_f32(a, b, mode)),
        W2::FSub(Mode::RN) => zip(xs, ys, |a, b| scalar::sub_f32(a, b, Mode::RN)),
        W2::FSub(mode) => zip(xs, ys, |a, b| scalar::sub_f32(a, b, mode)),
        W2::FMul(Mode::RN) => zip(xs, ys, |a, b| scalar::mul_f32(a, b, Mode::RN)),
        W2::FMul(mode) => zip(xs, ys, |a, b| scalar::mul_f32(a, b, mode)),
        W2::FDiv(mode) => zip(xs, ys, |a, b| scalar::div_f32(a, b, mode)),
        W2::FDivApprox { ftz } => zip(xs, ys, |a, b| approx::div_f32(a, b, ftz)),
        W2::FDivFull { ftz } => zip(xs, ys, |a, b| approx::div_full_f32(a, b, ftz)),
        W2::FExtreme(which, selection) => {
            zip(xs, ys, |a, b| scalar::extreme_f32(which, a, b, selection))
        }
        W2::FCopysign => zip(xs, ys, scalar::copysign_f32),
        W2::Half(ty, op) => {
            zip(xs, ys, |a, b| narrow2(ty, op, low16(a.into()), low16(b.into())).into())
        }
        W2::Half2(ty, op) => zip(xs, ys, |a, b| narrow::zip2(a, b, |a, b| narrow2(ty, op, a, b))),
    };
    let defined = regs.w_defined(a) & regs.w_defined(b);
    regs.set_w(d, &out, mask, defined);
}

/// `div`, `rem` of integers. A result by zero is not specified (PTX ISA, "div", "rem"): the lanes count as never written, so that it may be
/// computed where nothing uses it.
pub(crate) fn divide(
    warp: &mut Warp,
    (remainder, ty): (bool, Int),
    d: Slot,
    (a, b): (Slot, Slot),
    mask: u32,
) {
    let (xs, ys) = (warp.regs.wide(a), warp.regs.wide(b));
    let out = if remainder {
        zip_d(&xs, &ys, |a, b| integer::rem(ty, a, b))
    } else {
        zip_d(&xs, &ys, |a, b| integer::div(ty, a, b))
    };
    let mut defined = warp.regs.defined(a) & warp.regs.defined(b);
    let by_zero = (0..LANES).fold(0, |m, lane| m | u32::from(ys[lane] == 0) << lane);
    let by_zero = by_zero & mask & defined;
    if by_zero != 0 {
        let dividend = ty.value(xs[by_zero.trailing_zeros() as usize]);
        warp.by_zero = Some(ByZero { pc: warp.pc, lanes: by_zero, dividend });
        defined &= !by_zero;
    }
    warp.regs.set_wide(d, &out, mask, defined);
}

/// Three 32-bit operands.
pub(crate) fn w3(regs: &mut Registers, op: W3, d: W, [a, b, c]: [W; 3], mask: u32) {
    let (xs, ys, zs) = (regs.w(a), regs.w(b), regs.w(c));
    let out = match op {
        W3::Mad => zip3(xs, ys, zs, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        W3::MadHiSat => zip3(xs, ys, zs, integer::mad_hi_sat_s32),
        W3::Int(op, ty) => {
            zip3(xs, ys, zs, |a, b, c| low32(int3(op, ty, a.into(), b.into(), c.into())))
        }
        W3::Mad24 { signed, hi: false } => {
            zip3(xs, ys, zs, |a, b, c| integer::mul24_lo(signed, a, b).wrapping_add(c))
        }
        W3::Mad24 { signed, hi: true } => {
            zip3(xs, ys, zs, |a, b, c| integer::mul24_hi(signed, a, b).wrapping_add(c))
        }
        W3::Mad24HiSat => {
            zip3(xs, ys, zs, |a, b, c| integer::add_sat_s32(integer::mul24_hi(true, a, b), c))
        }
        W3::Lop3(table) => zip3(xs, ys, zs, |a, b, c| integer::lop3(a, b, c, table)),
        W3::Prmt(mode) => zip3(xs, ys, zs, |a, b, c| integer::prmt(a, b, c, mode)),
        W3::ShfL(range) => zip3(xs, ys, zs, |a, b, c| integer::shf_left(a, b, c, range)),
        W3::ShfR(range) => zip3(xs, ys, zs, |a, b, c| integer::shf_right(a, b, c, range)),
        W3::Bfe(ty) => zip3(xs, ys, zs, |a, b, c| low32(integer::bfe(ty, a.into(), b, c))),
        W3::Fns => zip3(xs, ys, zs, integer::fns),
        W3::Dp4a { a_signed, b_signed } => {
            zip3(xs, ys, zs, |a, b, c| integer::dp4a(a, b, c, a_signed, b_signed))
        }
        W3::Dp2a { a_signed, b_signed, hi } => {
            zip3(xs, ys, zs, |a, b, c| integer::dp2a(a, b, c, a_signed, b_signed, hi))
        }
        W3::FFma(Mode::RN) => zip3(xs, ys, zs, |a, b, c| scalar::fma_f32(a, b, c, Mode::RN)),
        W3::FFma(mode) => zip3(xs, ys, zs, |a, b, c| scalar::fma_f32(a, b, c, mode)),
        W3::FExtreme(which, selection) => {
            zip3(xs, ys, zs, |a, b, c| scalar::extreme3_f32(which, a, b, c, selection))
        }
        W3::Half(ty, op) => zip3(xs, ys, zs, |a, b, c| {
            narrow3(ty, op, low16(a.into()), low16(b.into()), low16(c.into())).into()
        }),
        W3::Half2(ty, op) => {
            zip3(xs, ys, zs, |a, b, c| narrow::zip3(a, b, c, |a, b, c| narrow3(ty, op, a, b, c)))
        }
    };
    let defined = regs.w_defined(a) & regs.w_defined(b) & regs.w_defined(c);
    regs.set_w(d, &out, mask, defined);
}

/// One 64-bit operand.
pub(crate) fn d1(regs: &mut Registers, op: D1, d: D, a: D, mask: u32) {
    let xs = regs.d(a);
    let out = match op {
        D1::Not => map_d(xs, |a| !a),
        D1::Cnot => map_d(xs, |a| integer::cnot(64, a)),
        D1::Neg => map_d(xs, u64::wrapping_neg),
        D1::Abs => map_d(xs, |a| integer::abs(Int::S64, a)),
        D1::Brev => map_d(xs, u64::reverse_bits),
        D1::FNeg => map_d(xs, |a| a ^ 1 << 63),
        D1::FAbs => map_d(xs, |a| a & !(1 << 63)),
        D1::FRcp(round) => map_d(xs, |a| scalar::rcp_f64(a, Mode { round, ..Mode::RN })),
        D1::FSqrt(round) => map_d(xs, |a| scalar::sqrt_f64(a, Mode { round, ..Mode::RN })),
        D1::FRcpApprox => map_d(xs, approx::rcp_ftz_f64),
        D1::FRsqrtApprox { ftz: true } => map_d(xs, approx::rsqrt_ftz_f64),
        D1::FRsqrtApprox { ftz: false } => map_d(xs, approx::rsqrt_f64),
    };
    let defined = regs.d_defined(a);
    regs.set_d(d, &out, mask, defined);
}

/// Two 64-bit operands.
pub(crate) fn d2(regs: &mut Registers, op: D2, d: D, a: D, b: D, mask: u32) {
    let (xs, ys) = (regs.d(a), regs.d(b));
    let with = |round| Mode { round, ..Mode::RN };
    let out = match op {
        D2::Add => zip_d(xs, ys, u64::wrapping_add),
        D2::Sub => zip_d(xs, ys, u64::wrapping_sub),
        D2::Mul => zip_d(xs, ys, u64::wrapping_mul),
        D2::And => zip_d(xs, ys, |a, b| a & b),
        D2::Or => zip_d(xs, ys, |a, b| a | b),
        D2::Xor => zip_d(xs, ys, |a, b| a ^ b),
        D2::Int(op, ty) => zip_d(xs, ys, |a, b| int2(op, ty, a, b)),
        D2::FAdd(round) => zip_d(xs, ys, |a, b| scalar::add_f64(a, b, with(round))),
        D2::FSub(round) => zip_d(xs, ys, |a, b| scalar::sub_f64(a, b, with(round))),
        D2::FMul(round) => zip_d(xs, ys, |a, b| scalar::mul_f64(a, b, with(round))),
        D2::FDiv(round) => zip_d(xs, ys, |a, b| scalar::div_f64(a, b, with(round))),
        D2::FExtreme(which) => {
            zip_d(xs, ys, |a, b| scalar::extreme_f64(which, a, b, scalar::Selection::PLAIN))
        }
        D2::FCopysign => zip_d(xs, ys, scalar::copysign_f64),
        D2::PairAdd(mode) => zip_d(xs, ys, |a, b| pair(a, b, |a, b| scalar::add_f32(a, b, mode))),
        D2::PairSub(mode) => zip_d(xs, ys, |a, b| pair(a, b, |a, b| scalar::sub_f32(a, b, mode))),
        D2::PairMul(mode) => zip_d(xs, ys, |a, b| pair(a, b, |a, b| scalar::mul_f32(a, b, mode))),
    };
    let defined = regs.d_defined(a) & regs.d_defined(b);
    regs.set_d(d, &out, mask, defined);
}

/// Three 64-bit operands.
pub(crate) fn d3(regs: &mut Registers, op: D3, d: D, [a, b, c]: [D; 3], mask: u32) {
    let (xs, ys, zs) = (regs.d(a), regs.d(b), regs.d(c));
    let out = match op {
        D3::Int(op, ty) => zip3_d(xs, ys, zs, |a, b, c| int3(op, ty, a, b, c)),
        D3::FFma(round) => {
            zip3_d(xs, ys, zs, |a, b, c| scalar::fma_f64(a, b, c, Mode { round, ..Mode::RN }))
        }
        D3::PairFma(mode) => zip3_d(xs, ys, zs, |a, b, c| {
            let first = scalar::fma_f32(low32(a), low32(b), low32(c), mode);
            let second = scalar::fma_f32(high(a), high(b), high(c), mode);
            u64::from(second) << 32 | u64::from(first)
        }),
    };
    let defined = regs.d_defined(a) & regs.d_defined(b) & regs.d_defined(c);
    regs.set_d(d, &out, mask, defined);
}

/// `shl`, `shr` of 64 bits.
pub(crate) fn shift_d(regs: &mut Registers, op: ShiftOp, d: D, a: D, b: W, mask: u32) {
    let (xs, ys) = (regs.d(a), regs.w(b));
    let mut out = [0; LANES];
    for lane in 0..LANES {
        let (a, b) = (xs[lane], ys[lane]);
        out[lane] = match op {
            ShiftOp::Left => a.checked_shl(b).unwrap_or(0),
            ShiftOp::Right { signed: false } => a.checked_shr(b).unwrap_or(0),
            ShiftOp::Right { signed: true } => (a.cast_signed() >> b.min(63)).cast_unsigned(),
        };
    }
    let defined = regs.d_defined(a) & regs.w_defined(b);
    regs.set_d(d, &out, mask, defined);
}

/// `popc`, `clz`, `bfind` of 64 bits.
pub(crate) fn count_d(regs: &mut Registers, op: CountOp, d: W, a: D, mask: u32) {
    let xs = regs.d(a);
    let mut out = [0; LANES];
    for lane in 0..LANES {
        out[lane] = match op {
            CountOp::Popc => xs[lane].count_ones(),
            CountOp::Clz => xs[lane].leading_zeros(),
            CountOp::Bfind { ty, shift: false } => integer::bfind(ty, xs[lane]),
            CountOp::Bfind { ty, shift: true } => integer::bfind_shift(ty, xs[lane]),
        };
    }
    let defined = regs.d_defined(a);
    regs.set_w(d, &out, mask, defined);
}

/// `mul.wide`, `mad.wide` of 32 bits.
pub(crate) fn wide(
    regs: &mut Registers,
    signed: bool,
    d: D,
    (a, b, c): (W, W, Option<D>),
    mask: u32,
) {
    let (xs, ys) = (regs.w(a), regs.w(b));
    let mut out = [0; LANES];
    if signed {
        for lane in 0..LANES {
            let product = i64::from(xs[lane].cast_signed()) * i64::from(ys[lane].cast_signed());
            out[lane] = product.cast_unsigned();
        }
    } else {
        for lane in 0..LANES {
            out[lane] = u64::from(xs[lane]) * u64::from(ys[lane]);
        }
    }
    let mut defined = regs.w_defined(a) & regs.w_defined(b);
    if let Some(c) = c {
        defined &= regs.d_defined(c);
        let zs = regs.d(c);
        for lane in 0..LANES {
            out[lane] = out[lane].wrapping_add(zs[lane]);
        }
    }
    regs.set_d(d, &out, mask, defined);
}

/// `bfi.b32`.
pub(crate) fn bfi(regs: &mut Registers, d: W, operands: [W; 4], mask: u32) {
    let [xs, ys, at, bits] = operands.map(|slot| regs.w(slot));
    let mut out = [0; LANES];
    for lane in 0..LANES {
        out[lane] = low32(integer::bfi(32, xs[lane].into(), ys[lane].into(), at[lane], bits[lane]));
    }
    let defined = operands.iter().fold(u32::MAX, |m, &slot| m & regs.w_defined(slot));
    regs.set_w(d, &out, mask, defined);
}

/// `bfi.b64`.
pub(crate) fn bfi_d(regs: &mut Registers, field: &BitField, mask: u32) {
    let BitField { d, a, b, position, length } = *field;
    let (xs, ys, at, bits) = (regs.d(a), regs.d(b), regs.w(position), regs.w(length));
    let mut out = [0; LANES];
    for lane in 0..LANES {
        out[lane] = integer::bfi(64, xs[lane], ys[lane], at[lane], bits[lane]);
    }
    let defined =
        regs.d_defined(a) & regs.d_defined(b) & regs.w_defined(position) & regs.w_defined(length);
    regs.set_d(d, &out, mask, defined);
}

/// `bfe` of 64 bits.
pub(crate) fn bfe_d(regs: &mut Registers, signed: bool, d: D, (a, b, c): (D, W, W), mask: u32) {
    let (xs, ys, zs) = (regs.d(a), regs.w(b), regs.w(c));
    let ty = if signed { Int::S64 } else { Int::U64 };
    let mut out = [0; LANES];
    for lane in 0..LANES {
        out[lane] = integer::bfe(ty, xs[lane], ys[lane], zs[lane]);
    }
    let defined = regs.d_defined(a) & regs.w_defined(b) & regs.w_defined(c);
    regs.set_d(d, &out, mask, defined);
}

/// `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc` (PTX ISA, "Extended-Precision Integer
/// Arithmetic Instructions").
pub(crate) fn carry(warp: &mut Warp, op: &Carry, mask: u32) {
    let (a, b) = (warp.regs.wide(op.a), warp.regs.wide(op.b));
    let c = op.c.map(|slot| warp.regs.wide(slot));
    let mut defined = warp.regs.defined(op.a) & warp.regs.defined(op.b);
    if let Some(slot) = op.c {
        defined &= warp.regs.defined(slot);
    }
    let mut out = [0; LANES];
    let mut flags = 0;
    for lane in 0..LANES {
        let carry = op.read && warp.carry >> lane & 1 != 0;
        let (a, b) = (a[lane], b[lane]);
        let c = c.map_or(0, |c| c[lane]);
        let (value, flag) = match op.kind {
            CarryKind::Add => integer::add_carry(op.ty, a, b, carry),
            CarryKind::Sub => integer::sub_borrow(op.ty, a, b, carry),
            CarryKind::MadLo => integer::add_carry(op.ty, integer::mul_lo(op.ty, a, b), c, carry),
            CarryKind::MadHi => integer::add_carry(op.ty, integer::mul_hi(op.ty, a, b), c, carry),
        };
        out[lane] = value;
        flags |= u32::from(flag) << lane;
    }
    if op.write {
        warp.carry = warp.carry & !mask | flags & mask;
    }
    warp.regs.set_wide(op.d, &out, mask, defined);
}

/// `lop3.and`, `lop3.or`: the result and whether it is not zero, joined with a predicate.
pub(crate) fn lop3_pred(regs: &mut Registers, op: &Lop3Pred, mask: u32) {
    let (a, b, c) = (regs.w(op.a), regs.w(op.b), regs.w(op.c));
    let out = zip3(a, b, c, |a, b, c| integer::lop3(a, b, c, op.table));
    let mut bits = 0;
    for (lane, value) in out.iter().enumerate() {
        bits |= u32::from(*value != 0) << lane;
    }
    let q = regs.pred(op.q);
    let bits = if op.and { bits & q } else { bits | q };
    let defined = regs.w_defined(op.a) & regs.w_defined(op.b) & regs.w_defined(op.c);
    let joined = defined & regs.p_defined(op.q.slot);
    regs.set_p(op.p, bits, mask, joined);
    if let Some(d) = op.d {
        regs.set_w(d, &out, mask, defined);
    }
}
