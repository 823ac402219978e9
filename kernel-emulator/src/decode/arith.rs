//! Arithmetic, logic, shifts and bit fields.

use kernel_ptx::{Opcode, Operand, Type, Word};

use super::operands::{Decoded, Modifiers, Scope};
use super::{count, look_up};
use crate::code::ops::{Carry, CarryKind};
use crate::code::{
    D1, D2, D3, IntBinary, IntTernary, NarrowBinary, NarrowTernary, NarrowUnary, Op, Slot, W1, W2,
    W3,
};
use crate::numeric::format::Round;
use crate::numeric::integer::Int;
use crate::numeric::narrow::Half;
use crate::numeric::scalar::{Clamp, Extreme, Mode, Selection};

/// An arithmetic type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Int(Int),
    /// Two 16-bit integers.
    IntPair(Int),
    F32,
    F32Pair,
    F64,
    Half(Half),
    HalfPair(Half),
}

/// What a type means to arithmetic.
pub(super) fn arithmetic(ty: Type) -> Decoded<Arithmetic> {
    let table = [
        (Type::U8, Arithmetic::Int(Int::U8)),
        (Type::S8, Arithmetic::Int(Int::S8)),
        (Type::U16, Arithmetic::Int(Int::U16)),
        (Type::S16, Arithmetic::Int(Int::S16)),
        (Type::U32, Arithmetic::Int(Int::U32)),
        (Type::S32, Arithmetic::Int(Int::S32)),
        (Type::U64, Arithmetic::Int(Int::U64)),
        (Type::S64, Arithmetic::Int(Int::S64)),
        (Type::U16x2, Arithmetic::IntPair(Int::U16)),
        (Type::S16x2, Arithmetic::IntPair(Int::S16)),
        (Type::F32, Arithmetic::F32),
        (Type::F32x2, Arithmetic::F32Pair),
        (Type::F64, Arithmetic::F64),
        (Type::F16, Arithmetic::Half(Half::F16)),
        (Type::Bf16, Arithmetic::Half(Half::Bf16)),
        (Type::F16x2, Arithmetic::HalfPair(Half::F16)),
        (Type::Bf16x2, Arithmetic::HalfPair(Half::Bf16)),
        (Type::B16, Arithmetic::Int(Int::U16)),
        (Type::B32, Arithmetic::Int(Int::U32)),
        (Type::B64, Arithmetic::Int(Int::U64)),
    ];
    look_up(&table, &ty).ok_or_else(|| format!("no arithmetic on `.{}`", ty.text()))
}

fn no<T>(ty: Arithmetic) -> Decoded<T> {
    Err(format!("the type is not modelled for this instruction ({ty:?})"))
}

/// An integer type.
pub(super) fn int(mods: &mut Modifiers) -> Decoded<Int> {
    let ty = arithmetic(mods.ty()?)?;
    if let Arithmetic::Int(ty) = ty { Ok(ty) } else { no(ty) }
}

/// `.rn`, `.rz`, `.rm`, `.rp`.
pub(super) fn round(mods: &mut Modifiers) -> Option<Round> {
    mods.one_of(&[
        (Word::Rn, Round::NearestEven),
        (Word::Rz, Round::Zero),
        (Word::Rm, Round::Down),
        (Word::Rp, Round::Up),
    ])
}

/// Rounding, `.ftz`, `.sat`.
fn mode(mods: &mut Modifiers) -> Mode {
    let round = round(mods).unwrap_or(Round::NearestEven);
    let flush = mods.word(Word::Ftz);
    let clamp = if mods.word(Word::Sat) {
        Clamp::Unit
    } else if mods.word(Word::Relu) {
        Clamp::Relu
    } else {
        Clamp::None
    };
    Mode { round, flush, clamp }
}

/// f64 arithmetic knows rounding only.
fn only_round(mode: Mode) -> Decoded<Round> {
    if mode == (Mode { round: mode.round, ..Mode::RN }) {
        Ok(mode.round)
    } else {
        Err("`.ftz`, `.sat` and `.relu` are not for `.f64`".to_owned())
    }
}

pub(super) fn w1(cx: &mut Scope<'_>, op: W1, ops: &[Operand], narrow: bool) -> Decoded<Op> {
    let [d, a] = count(ops)?;
    let a = if narrow { cx.h(a)? } else { cx.w(a)? };
    Ok(Op::W1 { op, d: cx.dest_w(d)?, a })
}

pub(super) fn w2(cx: &mut Scope<'_>, op: W2, ops: &[Operand], narrow: bool) -> Decoded<Op> {
    let [d, a, b] = count(ops)?;
    let (a, b) = if narrow { (cx.h(a)?, cx.h(b)?) } else { (cx.w(a)?, cx.w(b)?) };
    Ok(Op::W2 { op, d: cx.dest_w(d)?, a, b })
}

pub(super) fn w3(cx: &mut Scope<'_>, op: W3, ops: &[Operand], narrow: bool) -> Decoded<Op> {
    let [d, a, b, c] = count(ops)?;
    let (a, b, c) =
        if narrow { (cx.h(a)?, cx.h(b)?, cx.h(c)?) } else { (cx.w(a)?, cx.w(b)?, cx.w(c)?) };
    Ok(Op::W3 { op, d: cx.dest_w(d)?, a, b, c })
}

pub(super) fn d1(cx: &mut Scope<'_>, op: D1, ops: &[Operand]) -> Decoded<Op> {
    let [d, a] = count(ops)?;
    Ok(Op::D1 { op, d: cx.dest_d(d)?, a: cx.d(a)? })
}

pub(super) fn d2(cx: &mut Scope<'_>, op: D2, ops: &[Operand]) -> Decoded<Op> {
    let [d, a, b] = count(ops)?;
    Ok(Op::D2 { op, d: cx.dest_d(d)?, a: cx.d(a)?, b: cx.d(b)? })
}

fn d3(cx: &mut Scope<'_>, op: D3, ops: &[Operand]) -> Decoded<Op> {
    let [d, a, b, c] = count(ops)?;
    Ok(Op::D3 { op, d: cx.dest_d(d)?, a: cx.d(a)?, b: cx.d(b)?, c: cx.d(c)? })
}

/// A binary integer operation of any width.
fn int2(cx: &mut Scope<'_>, op: IntBinary, ty: Int, ops: &[Operand]) -> Decoded<Op> {
    let wide = op == IntBinary::MulWide;
    let fast = match (op, ty) {
        (IntBinary::Add, Int::U32 | Int::S32) => Some(W2::Add),
        (IntBinary::Sub, Int::U32 | Int::S32) => Some(W2::Sub),
        (IntBinary::MulLo, Int::U32 | Int::S32) => Some(W2::Mul),
        (IntBinary::MulHi, Int::S32) => Some(W2::MulHiS),
        (IntBinary::MulHi, Int::U32) => Some(W2::MulHiU),
        (IntBinary::Min, Int::S32) => Some(W2::MinS),
        (IntBinary::Min, Int::U32) => Some(W2::MinU),
        (IntBinary::Max, Int::S32) => Some(W2::MaxS),
        (IntBinary::Max, Int::U32) => Some(W2::MaxU),
        _ => None,
    };
    if let Some(fast) = fast {
        return w2(cx, fast, ops, false);
    }
    match ty.bits() {
        64 if wide => Err("`.wide` is for 16 and 32 bits".to_owned()),
        64 => {
            let op = match op {
                IntBinary::Add => D2::Add,
                IntBinary::Sub => D2::Sub,
                IntBinary::MulLo => D2::Mul,
                IntBinary::MulHi | IntBinary::MulWide | IntBinary::Min | IntBinary::Max => {
                    D2::Int(op, ty)
                }
            };
            d2(cx, op, ops)
        }
        32 if wide => {
            let [d, a, b] = count(ops)?;
            let (a, b) = (cx.w(a)?, cx.w(b)?);
            Ok(Op::Wide { signed: ty.is_signed(), d: cx.dest_d(d)?, a, b, c: None })
        }
        32 => w2(cx, W2::Int(op, ty), ops, false),
        _ => w2(cx, W2::Int(op, ty), ops, true),
    }
}

fn int3(cx: &mut Scope<'_>, op: IntTernary, ty: Int, ops: &[Operand]) -> Decoded<Op> {
    match (ty.bits(), op) {
        (64, IntTernary::MadWide) => Err("`.wide` is for 16 and 32 bits".to_owned()),
        (64, _) => d3(cx, D3::Int(op, ty), ops),
        (32, IntTernary::MadWide) => {
            let [d, a, b, c] = count(ops)?;
            let (a, b, c) = (cx.w(a)?, cx.w(b)?, cx.d(c)?);
            Ok(Op::Wide { signed: ty.is_signed(), d: cx.dest_d(d)?, a, b, c: Some(c) })
        }
        (32, IntTernary::MadLo) => w3(cx, W3::Mad, ops, false),
        (32, _) => w3(cx, W3::Int(op, ty), ops, false),
        (_, IntTernary::MadWide) => {
            let [d, a, b, c] = count(ops)?;
            let (a, b, c) = (cx.h(a)?, cx.h(b)?, cx.w(c)?);
            Ok(Op::W3 { op: W3::Int(op, ty), d: cx.dest_w(d)?, a, b, c })
        }
        _ => w3(cx, W3::Int(op, ty), ops, true),
    }
}

/// `add`, `sub`.
pub(super) fn add(
    cx: &mut Scope<'_>,
    mods: &mut Modifiers,
    ops: &[Operand],
    opcode: Opcode,
) -> Decoded<Op> {
    let sub = opcode == Opcode::Sub;
    if mods.word(Word::Cc) {
        return carry_op(cx, mods, ops, sub, (false, true));
    }
    let mode = mode(mods);
    let first = mods.ty()?;
    let second = mods.next_type();
    match (arithmetic(first)?, second) {
        // `add.f32.f16`: a narrow operand, widened without error.
        (Arithmetic::F32, Some(_)) => Err("mixed precision is not modelled".to_owned()),
        (_, Some(_)) => Err("a second type".to_owned()),
        (Arithmetic::Int(Int::S32), None) if mode.clamp == Clamp::Unit => {
            w2(cx, if sub { W2::SubSat } else { W2::AddSat }, ops, false)
        }
        (Arithmetic::Int(ty), None) if mode == Mode::RN => {
            int2(cx, if sub { IntBinary::Sub } else { IntBinary::Add }, ty, ops)
        }
        (Arithmetic::IntPair(ty), None) if mode == Mode::RN => {
            let op = if sub { IntBinary::Sub } else { IntBinary::Add };
            w2(cx, W2::Pair { op, ty, relu: false }, ops, false)
        }
        (Arithmetic::F32, None) => {
            w2(cx, if sub { W2::FSub(mode) } else { W2::FAdd(mode) }, ops, false)
        }
        (Arithmetic::F32Pair, None) => {
            d2(cx, if sub { D2::PairSub(mode) } else { D2::PairAdd(mode) }, ops)
        }
        (Arithmetic::F64, None) => {
            let round = only_round(mode)?;
            d2(cx, if sub { D2::FSub(round) } else { D2::FAdd(round) }, ops)
        }
        (Arithmetic::Half(half), None) => {
            let op = if sub { NarrowBinary::Sub(mode) } else { NarrowBinary::Add(mode) };
            w2(cx, W2::Half(half, op), ops, true)
        }
        (Arithmetic::HalfPair(half), None) => {
            let op = if sub { NarrowBinary::Sub(mode) } else { NarrowBinary::Add(mode) };
            w2(cx, W2::Half2(half, op), ops, false)
        }
        (ty @ (Arithmetic::Int(_) | Arithmetic::IntPair(_)), None) => no(ty),
    }
}

/// `addc`, `subc`.
pub(super) fn carry(
    cx: &mut Scope<'_>,
    mods: &mut Modifiers,
    ops: &[Operand],
    opcode: Opcode,
) -> Decoded<Op> {
    let write = mods.word(Word::Cc);
    carry_op(cx, mods, ops, opcode == Opcode::Subc, (true, write))
}

fn carry_op(
    cx: &mut Scope<'_>,
    mods: &mut Modifiers,
    ops: &[Operand],
    sub: bool,
    (read, write): (bool, bool),
) -> Decoded<Op> {
    let ty = int(mods)?;
    let [d, a, b] = count(ops)?;
    let bits = ty.bits();
    Ok(Op::Carry(Box::new(Carry {
        kind: if sub { CarryKind::Sub } else { CarryKind::Add },
        ty,
        read,
        write,
        d: cx.dest(d)?,
        a: cx.source(a, bits)?,
        b: cx.source(b, bits)?,
        c: None,
    })))
}

/// `mul`.
pub(super) fn mul(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let part = mods.one_of(&[
        (Word::Lo, IntBinary::MulLo),
        (Word::Hi, IntBinary::MulHi),
        (Word::Wide, IntBinary::MulWide),
    ]);
    let mode = mode(mods);
    match (arithmetic(mods.ty()?)?, part) {
        (Arithmetic::Int(ty), Some(op)) if mode == Mode::RN => int2(cx, op, ty, ops),
        (Arithmetic::F32, None) => w2(cx, W2::FMul(mode), ops, false),
        (Arithmetic::F32Pair, None) => d2(cx, D2::PairMul(mode), ops),
        (Arithmetic::F64, None) => d2(cx, D2::FMul(only_round(mode)?), ops),
        (Arithmetic::Half(half), None) => {
            w2(cx, W2::Half(half, NarrowBinary::Mul(mode)), ops, true)
        }
        (Arithmetic::HalfPair(half), None) => {
            w2(cx, W2::Half2(half, NarrowBinary::Mul(mode)), ops, false)
        }
        (ty, _) => no(ty),
    }
}

/// `mad`, `madc`.
pub(super) fn mad(
    cx: &mut Scope<'_>,
    mods: &mut Modifiers,
    ops: &[Operand],
    opcode: Opcode,
) -> Decoded<Op> {
    let read = opcode == Opcode::Madc;
    let part = mods.one_of(&[
        (Word::Lo, IntTernary::MadLo),
        (Word::Hi, IntTernary::MadHi),
        (Word::Wide, IntTernary::MadWide),
    ]);
    let write = mods.word(Word::Cc);
    if read || write {
        let ty = int(mods)?;
        let kind = match part {
            Some(IntTernary::MadLo) => CarryKind::MadLo,
            Some(IntTernary::MadHi) => CarryKind::MadHi,
            Some(IntTernary::MadWide | IntTernary::Sad) | None => {
                return Err("the carry chain has `.lo` and `.hi`".to_owned());
            }
        };
        let [d, a, b, c] = count(ops)?;
        let bits = ty.bits();
        return Ok(Op::Carry(Box::new(Carry {
            kind,
            ty,
            read,
            write,
            d: cx.dest(d)?,
            a: cx.source(a, bits)?,
            b: cx.source(b, bits)?,
            c: Some(cx.source(c, bits)?),
        })));
    }
    let mode = mode(mods);
    match (arithmetic(mods.ty()?)?, part) {
        (Arithmetic::Int(Int::S32), Some(IntTernary::MadHi)) if mode.clamp == Clamp::Unit => {
            w3(cx, W3::MadHiSat, ops, false)
        }
        (Arithmetic::Int(ty), Some(op)) if mode == Mode::RN => int3(cx, op, ty, ops),
        (Arithmetic::F32, None) => w3(cx, W3::FFma(mode), ops, false),
        (Arithmetic::F64, None) => d3(cx, D3::FFma(only_round(mode)?), ops),
        (ty, _) => no(ty),
    }
}

/// `mul24`.
pub(super) fn mul24(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let hi = high(mods)?;
    let ty = int(mods)?;
    w2(cx, W2::Mul24 { signed: ty.is_signed(), hi }, ops, false)
}

/// `mad24`.
pub(super) fn mad24(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let hi = high(mods)?;
    let sat = mods.word(Word::Sat);
    let ty = int(mods)?;
    let op = match (hi, sat) {
        (true, true) => W3::Mad24HiSat,
        (false, true) => return Err("`.sat` goes with `.hi`".to_owned()),
        (hi, false) => W3::Mad24 { signed: ty.is_signed(), hi },
    };
    w3(cx, op, ops, false)
}

pub(super) fn high(mods: &mut Modifiers) -> Decoded<bool> {
    mods.one_of(&[(Word::Lo, false), (Word::Hi, true)])
        .ok_or_else(|| "`.lo` or `.hi` is missing".to_owned())
}

/// `fma`.
pub(super) fn fma(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    if mods.word(Word::Oob) {
        return Err("`.oob` is not modelled".to_owned());
    }
    let mode = mode(mods);
    match arithmetic(mods.ty()?)? {
        Arithmetic::F32 => w3(cx, W3::FFma(mode), ops, false),
        Arithmetic::F32Pair => d3(cx, D3::PairFma(mode), ops),
        Arithmetic::F64 => d3(cx, D3::FFma(only_round(mode)?), ops),
        Arithmetic::Half(half) => w3(cx, W3::Half(half, NarrowTernary::Fma(mode)), ops, true),
        Arithmetic::HalfPair(half) => w3(cx, W3::Half2(half, NarrowTernary::Fma(mode)), ops, false),
        ty @ (Arithmetic::Int(_) | Arithmetic::IntPair(_)) => no(ty),
    }
}

/// `div`.
pub(super) fn div(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let (approx, full) = (mods.word(Word::Approx), mods.word(Word::Full));
    let mode = mode(mods);
    match arithmetic(mods.ty()?)? {
        Arithmetic::Int(ty) if !approx && !full && mode == Mode::RN => divide(cx, false, ty, ops),
        Arithmetic::F32 if approx => w2(cx, W2::FDivApprox { ftz: mode.flush }, ops, false),
        Arithmetic::F32 if full => w2(cx, W2::FDivFull { ftz: mode.flush }, ops, false),
        Arithmetic::F32 => w2(cx, W2::FDiv(mode), ops, false),
        Arithmetic::F64 if !approx && !full => d2(cx, D2::FDiv(only_round(mode)?), ops),
        ty @ (Arithmetic::Int(_)
        | Arithmetic::IntPair(_)
        | Arithmetic::F32Pair
        | Arithmetic::F64
        | Arithmetic::Half(_)
        | Arithmetic::HalfPair(_)) => no(ty),
    }
}

/// `rem`.
pub(super) fn rem(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let ty = int(mods)?;
    divide(cx, true, ty, ops)
}

fn divide(cx: &mut Scope<'_>, remainder: bool, ty: Int, ops: &[Operand]) -> Decoded<Op> {
    let [d, a, b] = count(ops)?;
    let (a, b, d) = match ty.bits() {
        64 => (Slot::D(cx.d(a)?), Slot::D(cx.d(b)?), Slot::D(cx.dest_d(d)?)),
        32 => (Slot::W(cx.w(a)?), Slot::W(cx.w(b)?), Slot::W(cx.dest_w(d)?)),
        _ => (Slot::W(cx.h(a)?), Slot::W(cx.h(b)?), Slot::W(cx.dest_w(d)?)),
    };
    Ok(Op::Divide { remainder, ty, d, a, b })
}

/// `.ftz`, `.NaN`, `.xorsign.abs`.
fn selection(mods: &mut Modifiers) -> Selection {
    let flush = mods.word(Word::Ftz);
    let propagate_nan = mods.word(Word::Nan);
    let xorsign_abs = mods.word(Word::Xorsign) && mods.word(Word::AbsWord);
    Selection { flush, propagate_nan, xorsign_abs }
}

/// `min`, `max`.
pub(super) fn min_max(
    cx: &mut Scope<'_>,
    mods: &mut Modifiers,
    ops: &[Operand],
    opcode: Opcode,
) -> Decoded<Op> {
    let max = opcode == Opcode::Max;
    let selection = selection(mods);
    let relu = mods.word(Word::Relu);
    let which = if max { Extreme::Max } else { Extreme::Min };
    let op = if max { IntBinary::Max } else { IntBinary::Min };
    let plain = selection == Selection::PLAIN;
    match arithmetic(mods.ty()?)? {
        Arithmetic::Int(Int::S32) if plain && relu => w2(cx, W2::Relu(op), ops, false),
        Arithmetic::Int(ty) if plain && !relu => int2(cx, op, ty, ops),
        Arithmetic::IntPair(ty) if plain => w2(cx, W2::Pair { op, ty, relu }, ops, false),
        Arithmetic::F32 if !relu && ops.len() == 4 => {
            w3(cx, W3::FExtreme(which, selection), ops, false)
        }
        Arithmetic::F32 if !relu => w2(cx, W2::FExtreme(which, selection), ops, false),
        Arithmetic::F64 if plain && !relu => d2(cx, D2::FExtreme(which), ops),
        Arithmetic::Half(half) if !relu => {
            w2(cx, W2::Half(half, NarrowBinary::Extreme(which, selection)), ops, true)
        }
        Arithmetic::HalfPair(half) if !relu => {
            w2(cx, W2::Half2(half, NarrowBinary::Extreme(which, selection)), ops, false)
        }
        ty @ (Arithmetic::Int(_)
        | Arithmetic::IntPair(_)
        | Arithmetic::F32
        | Arithmetic::F32Pair
        | Arithmetic::F64
        | Arithmetic::Half(_)
        | Arithmetic::HalfPair(_)) => no(ty),
    }
}

/// `abs`, `neg`.
pub(super) fn sign(
    cx: &mut Scope<'_>,
    mods: &mut Modifiers,
    ops: &[Operand],
    opcode: Opcode,
) -> Decoded<Op> {
    let ftz = mods.word(Word::Ftz);
    let neg = opcode == Opcode::Neg;
    let half = if neg { NarrowUnary::Neg { ftz } } else { NarrowUnary::Abs { ftz } };
    match arithmetic(mods.ty()?)? {
        Arithmetic::Int(Int::S64 | Int::U64) if neg && !ftz => d1(cx, D1::Neg, ops),
        Arithmetic::Int(Int::S64) if !ftz => d1(cx, D1::Abs, ops),
        Arithmetic::Int(ty) if !ftz => {
            w1(cx, if neg { W1::Neg(ty) } else { W1::Abs(ty) }, ops, ty.bits() < 32)
        }
        Arithmetic::F32 => {
            w1(cx, if neg { W1::FNeg { ftz } } else { W1::FAbs { ftz } }, ops, false)
        }
        Arithmetic::F64 if !ftz => d1(cx, if neg { D1::FNeg } else { D1::FAbs }, ops),
        Arithmetic::Half(ty) => w1(cx, W1::Half(ty, half), ops, true),
        Arithmetic::HalfPair(ty) => w1(cx, W1::Half2(ty, half), ops, false),
        ty @ (Arithmetic::Int(_)
        | Arithmetic::IntPair(_)
        | Arithmetic::F32Pair
        | Arithmetic::F64) => no(ty),
    }
}

/// `sad`.
pub(super) fn sad(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let ty = int(mods)?;
    int3(cx, IntTernary::Sad, ty, ops)
}

/// `copysign`.
pub(super) fn copysign(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    match arithmetic(mods.ty()?)? {
        Arithmetic::F32 => w2(cx, W2::FCopysign, ops, false),
        Arithmetic::F64 => d2(cx, D2::FCopysign, ops),
        ty @ (Arithmetic::Int(_)
        | Arithmetic::IntPair(_)
        | Arithmetic::F32Pair
        | Arithmetic::Half(_)
        | Arithmetic::HalfPair(_)) => no(ty),
    }
}

/// `rcp`, `sqrt`, `rsqrt`.
pub(super) fn root(
    cx: &mut Scope<'_>,
    mods: &mut Modifiers,
    ops: &[Operand],
    opcode: Opcode,
) -> Decoded<Op> {
    let approx = mods.word(Word::Approx);
    let mode = mode(mods);
    let ftz = mode.flush;
    match (arithmetic(mods.ty()?)?, opcode, approx) {
        (Arithmetic::F32, Opcode::Rcp, true) => w1(cx, W1::RcpApprox { ftz }, ops, false),
        (Arithmetic::F32, Opcode::Rcp, false) => w1(cx, W1::FRcp(mode), ops, false),
        (Arithmetic::F32, Opcode::Sqrt, true) => w1(cx, W1::SqrtApprox { ftz }, ops, false),
        (Arithmetic::F32, Opcode::Sqrt, false) => w1(cx, W1::FSqrt(mode), ops, false),
        (Arithmetic::F32, Opcode::Rsqrt, true) => w1(cx, W1::RsqrtApprox { ftz }, ops, false),
        (Arithmetic::F64, Opcode::Rcp, true) if ftz => d1(cx, D1::FRcpApprox, ops),
        (Arithmetic::F64, Opcode::Rcp, false) => d1(cx, D1::FRcp(only_round(mode)?), ops),
        (Arithmetic::F64, Opcode::Sqrt, false) => d1(cx, D1::FSqrt(only_round(mode)?), ops),
        (Arithmetic::F64, Opcode::Rsqrt, true) => d1(cx, D1::FRsqrtApprox { ftz }, ops),
        (ty, ..) => no(ty),
    }
}

/// `sin`, `cos`, `lg2`, `ex2`, `tanh`.
pub(super) fn transcendental(
    cx: &mut Scope<'_>,
    mods: &mut Modifiers,
    ops: &[Operand],
    opcode: Opcode,
) -> Decoded<Op> {
    if !mods.word(Word::Approx) {
        return Err("`.approx` is missing".to_owned());
    }
    let ftz = mods.word(Word::Ftz);
    match (arithmetic(mods.ty()?)?, opcode) {
        (Arithmetic::F32, Opcode::Sin) => w1(cx, W1::SinApprox { ftz }, ops, false),
        (Arithmetic::F32, Opcode::Cos) => w1(cx, W1::CosApprox { ftz }, ops, false),
        (Arithmetic::F32, Opcode::Lg2) => w1(cx, W1::Lg2Approx { ftz }, ops, false),
        (Arithmetic::F32, Opcode::Ex2) => w1(cx, W1::Ex2Approx { ftz }, ops, false),
        (Arithmetic::F32, Opcode::Tanh) if !ftz => w1(cx, W1::TanhApprox, ops, false),
        (Arithmetic::Half(half), Opcode::Ex2) => {
            w1(cx, W1::Half(half, NarrowUnary::Ex2 { ftz }), ops, true)
        }
        (Arithmetic::HalfPair(half), Opcode::Ex2) => {
            w1(cx, W1::Half2(half, NarrowUnary::Ex2 { ftz }), ops, false)
        }
        (Arithmetic::Half(half), Opcode::Tanh) if !ftz => {
            w1(cx, W1::Half(half, NarrowUnary::Tanh), ops, true)
        }
        (Arithmetic::HalfPair(half), Opcode::Tanh) if !ftz => {
            w1(cx, W1::Half2(half, NarrowUnary::Tanh), ops, false)
        }
        (ty, _) => no(ty),
    }
}
