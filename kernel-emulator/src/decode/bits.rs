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
    s: &mut Scope<'_>,
    m: &mut Modifiers,
    ops: &[Operand],
    opcode: Opcode,
) -> Decoded<Op> {
    use crate::numeric::compare::Join;
    let ty = m.ty()?;
    let (w, d, p) = if opcode == Opcode::And {
        (W2::And, D2::And, Join::And)
    } else if opcode == Opcode::Or {
        (W2::Or, D2::Or, Join::Or)
    } else {
        (W2::Xor, D2::Xor, Join::Xor)
    };
    match ty.bits() {
        1 => {
            let [target, a, b] = count(ops)?;
            Ok(Op::Logic { op: p, d: s.dest_p(target)?, a: s.pred(a)?, b: s.pred(b)? })
        }
        64 => d2(s, d, ops),
        bits => w2(s, w, ops, bits < 32),
    }
}

/// `not`.
pub(super) fn not(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    match m.ty()?.bits() {
        1 => {
            let [d, a] = count(ops)?;
            let mut a = s.pred(a)?;
            a.negated = !a.negated;
            Ok(Op::MovP { d: s.dest_p(d)?, a })
        }
        64 => d1(s, D1::Not, ops),
        32 => w1(s, W1::Not, ops, false),
        _ => w1(s, W1::Not16, ops, true),
    }
}

/// `cnot`.
pub(super) fn cnot(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    match m.ty()?.bits() {
        64 => d1(s, D1::Cnot, ops),
        bits => w1(s, W1::Cnot { bits }, ops, bits < 32),
    }
}

/// `shl`.
pub(super) fn shl(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let [d, a, b] = count(ops)?;
    match m.ty()?.bits() {
        64 => {
            let (a, b) = (s.d(a)?, s.w(b)?);
            Ok(Op::ShiftD { op: ShiftOp::Left, d: s.dest_d(d)?, a, b })
        }
        32 => w2(s, W2::Shl, ops, false),
        _ => {
            let (a, b) = (s.h(a)?, s.w(b)?);
            Ok(Op::W2 { op: W2::Shl16, d: s.dest_w(d)?, a, b })
        }
    }
}

/// `shr`.
pub(super) fn shr(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let ty = int(m)?;
    let [d, a, b] = count(ops)?;
    match ty.bits() {
        64 => {
            let (a, b) = (s.d(a)?, s.w(b)?);
            Ok(Op::ShiftD { op: ShiftOp::Right { signed: ty.is_signed() }, d: s.dest_d(d)?, a, b })
        }
        32 => w2(s, if ty.is_signed() { W2::ShrS } else { W2::ShrU }, ops, false),
        _ => {
            let (a, b) = (s.h(a)?, s.w(b)?);
            Ok(Op::W2 { op: W2::Shr16(ty), d: s.dest_w(d)?, a, b })
        }
    }
}

fn range(m: &mut Modifiers) -> Decoded<Range> {
    m.one_of(&[(Word::Clamp, Range::Clamp), (Word::Wrap, Range::Wrap)])
        .ok_or_else(|| "`.clamp` or `.wrap` is missing".to_owned())
}

/// `shf`.
pub(super) fn shf(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let left = m.word(Word::L);
    if !left && !m.word(Word::R) {
        return Err("`.l` or `.r` is missing".to_owned());
    }
    let range = range(m)?;
    m.ty()?;
    w3(s, if left { W3::ShfL(range) } else { W3::ShfR(range) }, ops, false)
}

/// `lop3`.
pub(super) fn lop3(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let and = m.one_of(&[(Word::And, true), (Word::Or, false)]);
    m.ty()?;
    let table = |operand| {
        let value = Scope::immediate(operand)?;
        u8::try_from(value).map_err(|_| format!("table {value} is more than 8 bits"))
    };
    let Some(and) = and else {
        let [d, a, b, c, t] = count(ops)?;
        let table = table(t)?;
        let (a, b, c) = (s.w(a)?, s.w(b)?, s.w(c)?);
        return Ok(Op::W3 { op: W3::Lop3(table), d: s.dest_w(d)?, a, b, c });
    };
    let [pair, a, b, c, t, q] = count(ops)?;
    let Operand::Pair(d, p) = pair else {
        return Err("`d|p` is needed".to_owned());
    };
    let d = match &**d {
        Operand::Sink => None,
        other => Some(s.dest_w(other)?),
    };
    Ok(Op::Lop3Pred(Box::new(Lop3Pred {
        table: table(t)?,
        and,
        d,
        p: s.dest_p(p)?,
        a: s.w(a)?,
        b: s.w(b)?,
        c: s.w(c)?,
        q: s.pred(q)?,
    })))
}

/// `prmt`.
pub(super) fn prmt(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    m.ty()?;
    let mode = m.one_of(&[
        (Word::F4e, Permute::Forward4),
        (Word::B4e, Permute::Backward4),
        (Word::Rc8, Permute::Replicate8),
        (Word::Ecl, Permute::EdgeLeft),
        (Word::Ecr, Permute::EdgeRight),
        (Word::Rc16, Permute::Replicate16),
    ]);
    w3(s, W3::Prmt(mode.unwrap_or(Permute::Bytes)), ops, false)
}

/// `popc`, `clz`, `brev`.
pub(super) fn bits(
    s: &mut Scope<'_>,
    m: &mut Modifiers,
    ops: &[Operand],
    opcode: Opcode,
) -> Decoded<Op> {
    let [d, a] = count(ops)?;
    let wide = m.ty()?.bits() == 64;
    match (opcode, wide) {
        (Opcode::Brev, true) => d1(s, D1::Brev, ops),
        (Opcode::Brev, false) => w1(s, W1::Brev, ops, false),
        (Opcode::Popc, false) => w1(s, W1::Popc, ops, false),
        (_, false) => w1(s, W1::Clz, ops, false),
        (opcode, true) => {
            let op = if opcode == Opcode::Popc { CountOp::Popc } else { CountOp::Clz };
            let a = s.d(a)?;
            Ok(Op::CountD { op, d: s.dest_w(d)?, a })
        }
    }
}

/// `bfind`.
pub(super) fn bfind(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let shift = m.word(Word::Shiftamt);
    let ty = int(m)?;
    let [d, a] = count(ops)?;
    if ty.bits() == 64 {
        let a = s.d(a)?;
        return Ok(Op::CountD { op: CountOp::Bfind { ty, shift }, d: s.dest_w(d)?, a });
    }
    w1(s, W1::Bfind { ty, shift }, ops, false)
}

/// `bfe`.
pub(super) fn bfe(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let ty = int(m)?;
    if ty.bits() != 64 {
        return w3(s, W3::Bfe(ty), ops, false);
    }
    let [d, a, b, c] = count(ops)?;
    let (a, b, c) = (s.d(a)?, s.w(b)?, s.w(c)?);
    Ok(Op::BfeD { signed: ty.is_signed(), d: s.dest_d(d)?, a, b, c })
}

/// `bfi`.
pub(super) fn bfi(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let [d, a, b, position, length] = count(ops)?;
    let (c, e) = (s.w(position)?, s.w(length)?);
    if m.ty()?.bits() != 64 {
        let (a, b) = (s.w(a)?, s.w(b)?);
        return Ok(Op::Bfi { d: s.dest_w(d)?, a, b, c, e });
    }
    let (a, b) = (s.d(a)?, s.d(b)?);
    Ok(Op::BfiD(Box::new(BitField { d: s.dest_d(d)?, a, b, position: c, length: e })))
}

/// `fns`.
pub(super) fn fns(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    m.ty()?;
    w3(s, W3::Fns, ops, false)
}

/// `bmsk`.
pub(super) fn bmsk(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let range = range(m)?;
    m.ty()?;
    w2(s, W2::Bmsk(range), ops, false)
}

/// `szext`.
pub(super) fn szext(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let range = range(m)?;
    let signed = int(m)?.is_signed();
    w2(s, W2::Szext { signed, range }, ops, false)
}

/// `dp4a`, `dp2a`.
pub(super) fn dot(
    s: &mut Scope<'_>,
    m: &mut Modifiers,
    ops: &[Operand],
    opcode: Opcode,
) -> Decoded<Op> {
    let half = if opcode == Opcode::Dp2a { Some(high(m)?) } else { None };
    let (a_signed, b_signed) = (int(m)?.is_signed(), int(m)?.is_signed());
    let op = match half {
        None => W3::Dp4a { a_signed, b_signed },
        Some(hi) => W3::Dp2a { a_signed, b_signed, hi },
    };
    w3(s, op, ops, false)
}
