//! Logic, shifts, bit fields, permutations, dot products.

use kernel_ptx::{Opcode, Operand, Word};

use super::arith::{d1, d2, high, int, w1, w2, w3};
use super::count;
use super::operands::{Decoded, Modifiers, Scope};
use crate::code::ops::BitField;
use crate::code::{CountOp, D1, D2, Lop3Pred, Op, ShiftOp, W1, W2, W3};
use crate::numeric::integer::{Permute, Range};

/// `and`, `or`, `xor`.
pub(super) fn logic(
    cx: &mut Scope<'_>,
    mods: &mut Modifiers,
    ops: &[Operand],
    opcode: Opcode,
) -> Decoded<Op> {
    use crate::numeric::compare::Join;
    let ty = mods.ty()?;
    let (words, doubles, predicates) = if opcode == Opcode::And {
        (W2::And, D2::And, Join::And)
    } else if opcode == Opcode::Or {
        (W2::Or, D2::Or, Join::Or)
    } else {
        (W2::Xor, D2::Xor, Join::Xor)
    };
    match ty.bits() {
        1 => {
            let [target, a, b] = count(ops)?;
            Ok(Op::Logic { op: predicates, d: cx.dest_p(target)?, a: cx.pred(a)?, b: cx.pred(b)? })
        }
        64 => d2(cx, doubles, ops),
        bits => w2(cx, words, ops, bits < 32),
    }
}

/// `not`.
pub(super) fn not(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    match mods.ty()?.bits() {
        1 => {
            let [d, a] = count(ops)?;
            let mut a = cx.pred(a)?;
            a.negated = !a.negated;
            Ok(Op::MovP { d: cx.dest_p(d)?, a })
        }
        64 => d1(cx, D1::Not, ops),
        32 => w1(cx, W1::Not, ops, false),
        _ => w1(cx, W1::Not16, ops, true),
    }
}

/// `cnot`.
pub(super) fn cnot(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    match mods.ty()?.bits() {
        64 => d1(cx, D1::Cnot, ops),
        bits => w1(cx, W1::Cnot { bits }, ops, bits < 32),
    }
}

/// `shl`.
pub(super) fn shl(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let [d, a, b] = count(ops)?;
    match mods.ty()?.bits() {
        64 => {
            let (a, b) = (cx.d(a)?, cx.w(b)?);
            Ok(Op::ShiftD { op: ShiftOp::Left, d: cx.dest_d(d)?, a, b })
        }
        32 => w2(cx, W2::Shl, ops, false),
        _ => {
            let (a, b) = (cx.h(a)?, cx.w(b)?);
            Ok(Op::W2 { op: W2::Shl16, d: cx.dest_w(d)?, a, b })
        }
    }
}

/// `shr`.
pub(super) fn shr(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let ty = int(mods)?;
    let [d, a, b] = count(ops)?;
    match ty.bits() {
        64 => {
            let (a, b) = (cx.d(a)?, cx.w(b)?);
            Ok(Op::ShiftD { op: ShiftOp::Right { signed: ty.is_signed() }, d: cx.dest_d(d)?, a, b })
        }
        32 => w2(cx, if ty.is_signed() { W2::ShrS } else { W2::ShrU }, ops, false),
        _ => {
            let (a, b) = (cx.h(a)?, cx.w(b)?);
            Ok(Op::W2 { op: W2::Shr16(ty), d: cx.dest_w(d)?, a, b })
        }
    }
}

fn range(mods: &mut Modifiers) -> Decoded<Range> {
    mods.one_of(&[(Word::Clamp, Range::Clamp), (Word::Wrap, Range::Wrap)])
        .ok_or_else(|| "`.clamp` or `.wrap` is missing".to_owned())
}

/// `shf`.
pub(super) fn shf(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let left = mods.word(Word::L);
    if !left && !mods.word(Word::R) {
        return Err("`.l` or `.r` is missing".to_owned());
    }
    let range = range(mods)?;
    mods.ty()?;
    w3(cx, if left { W3::ShfL(range) } else { W3::ShfR(range) }, ops, false)
}

/// `lop3`.
pub(super) fn lop3(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let and = mods.one_of(&[(Word::And, true), (Word::Or, false)]);
    mods.ty()?;
    let table = |operand| {
        let value = Scope::immediate(operand)?;
        u8::try_from(value).map_err(|_| format!("table {value} is more than 8 bits"))
    };
    let Some(and) = and else {
        let [d, a, b, c, bits] = count(ops)?;
        let table = table(bits)?;
        let (a, b, c) = (cx.w(a)?, cx.w(b)?, cx.w(c)?);
        return Ok(Op::W3 { op: W3::Lop3(table), d: cx.dest_w(d)?, a, b, c });
    };
    let [pair, a, b, c, bits, with] = count(ops)?;
    let Operand::Pair(d, nonzero) = pair else {
        return Err("`d|p` is needed".to_owned());
    };
    let d = cx.target_w(d)?;
    Ok(Op::Lop3Pred(Box::new(Lop3Pred {
        table: table(bits)?,
        and,
        d,
        p: cx.dest_p(nonzero)?,
        a: cx.w(a)?,
        b: cx.w(b)?,
        c: cx.w(c)?,
        q: cx.pred(with)?,
    })))
}

/// `prmt`.
pub(super) fn prmt(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    mods.ty()?;
    let mode = mods.one_of(&[
        (Word::F4e, Permute::Forward4),
        (Word::B4e, Permute::Backward4),
        (Word::Rc8, Permute::Replicate8),
        (Word::Ecl, Permute::EdgeLeft),
        (Word::Ecr, Permute::EdgeRight),
        (Word::Rc16, Permute::Replicate16),
    ]);
    w3(cx, W3::Prmt(mode.unwrap_or(Permute::Bytes)), ops, false)
}

/// `popc`, `clz`, `brev`.
pub(super) fn bits(
    cx: &mut Scope<'_>,
    mods: &mut Modifiers,
    ops: &[Operand],
    opcode: Opcode,
) -> Decoded<Op> {
    let [d, a] = count(ops)?;
    let wide = mods.ty()?.bits() == 64;
    match (opcode, wide) {
        (Opcode::Brev, true) => d1(cx, D1::Brev, ops),
        (Opcode::Brev, false) => w1(cx, W1::Brev, ops, false),
        (Opcode::Popc, false) => w1(cx, W1::Popc, ops, false),
        (_, false) => w1(cx, W1::Clz, ops, false),
        (opcode, true) => {
            let op = if opcode == Opcode::Popc { CountOp::Popc } else { CountOp::Clz };
            let a = cx.d(a)?;
            Ok(Op::CountD { op, d: cx.dest_w(d)?, a })
        }
    }
}

/// `bfind`.
pub(super) fn bfind(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let shift = mods.word(Word::Shiftamt);
    let ty = int(mods)?;
    let [d, a] = count(ops)?;
    if ty.bits() == 64 {
        let a = cx.d(a)?;
        return Ok(Op::CountD { op: CountOp::Bfind { ty, shift }, d: cx.dest_w(d)?, a });
    }
    w1(cx, W1::Bfind { ty, shift }, ops, false)
}

/// `bfe`.
pub(super) fn bfe(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let ty = int(mods)?;
    if ty.bits() != 64 {
        return w3(cx, W3::Bfe(ty), ops, false);
    }
    let [d, a, b, c] = count(ops)?;
    let (a, b, c) = (cx.d(a)?, cx.w(b)?, cx.w(c)?);
    Ok(Op::BfeD { signed: ty.is_signed(), d: cx.dest_d(d)?, a, b, c })
}

/// `bfi`.
pub(super) fn bfi(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let [d, a, b, position, length] = count(ops)?;
    let (position, length) = (cx.w(position)?, cx.w(length)?);
    if mods.ty()?.bits() != 64 {
        let (a, b) = (cx.w(a)?, cx.w(b)?);
        return Ok(Op::Bfi { d: cx.dest_w(d)?, a, b, c: position, e: length });
    }
    let (a, b) = (cx.d(a)?, cx.d(b)?);
    Ok(Op::BfiD(Box::new(BitField { d: cx.dest_d(d)?, a, b, position, length })))
}

/// `fns`.
pub(super) fn fns(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    mods.ty()?;
    w3(cx, W3::Fns, ops, false)
}

/// `bmsk`.
pub(super) fn bmsk(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let range = range(mods)?;
    mods.ty()?;
    w2(cx, W2::Bmsk(range), ops, false)
}

/// `szext`.
pub(super) fn szext(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let range = range(mods)?;
    let signed = int(mods)?.is_signed();
    w2(cx, W2::Szext { signed, range }, ops, false)
}

/// `dp4a`, `dp2a`.
pub(super) fn dot(
    cx: &mut Scope<'_>,
    mods: &mut Modifiers,
    ops: &[Operand],
    opcode: Opcode,
) -> Decoded<Op> {
    let half = if opcode == Opcode::Dp2a { Some(high(mods)?) } else { None };
    let (a_signed, b_signed) = (int(mods)?.is_signed(), int(mods)?.is_signed());
    let op = match half {
        None => W3::Dp4a { a_signed, b_signed },
        Some(hi) => W3::Dp2a { a_signed, b_signed, hi },
    };
    w3(cx, op, ops, false)
}
