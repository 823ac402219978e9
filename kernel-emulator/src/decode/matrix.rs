//! Matrix instructions of a warp.

use kernel_ptx::{Operand, Type, Word};

use super::count;
use super::memory::shared;
use super::operands::{Decoded, Modifiers, Scope};
use crate::code::{Ldmatrix, MatrixShape, Mma, MmaKind, Op, Slot, Stmatrix, W};
use crate::numeric::convert::Minifloat;
use crate::numeric::format::Round;
use crate::numeric::matrix::{BitOp, Element, IntElement};

pub(super) fn list(operand: &Operand) -> &[Operand] {
    match operand {
        Operand::Vector(list) => list,
        other => std::slice::from_ref(other),
    }
}

/// `.m8n8.xN{.trans}{.shared}.b16`
fn tile(m: &mut Modifiers) -> Decoded<(u32, bool, Option<crate::code::Place>)> {
    m.ignore(&[Word::Sync, Word::Aligned]);
    if !m.word(Word::M8n8) {
        return Err("only `.m8n8` is modelled".to_owned());
    }
    let number = m
        .one_of(&[(Word::X1, 1), (Word::X2, 2), (Word::X4, 4)])
        .ok_or("a number of matrices is missing")?;
    let trans = m.word(Word::Trans);
    let place = shared(m)?;
    if m.ty()? != Type::B16 {
        return Err("only `.b16` is modelled".to_owned());
    }
    Ok((number, trans, place))
}

fn right_count<T>(registers: Vec<T>, number: u32) -> Decoded<Box<[T]>> {
    if u32::try_from(registers.len()) == Ok(number) {
        Ok(registers.into())
    } else {
        Err(format!("{} registers for {number} matrices", registers.len()))
    }
}

/// `ldmatrix`.
pub(super) fn ldmatrix(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let (number, trans, place) = tile(m)?;
    let [d, a] = count(ops)?;
    let targets = list(d).iter().map(|d| s.dest_w(d)).collect::<Decoded<Vec<W>>>()?;
    let targets = right_count(targets, number)?;
    let address = s.address(a, place)?;
    let shape = MatrixShape::M8n8B16;
    Ok(Op::Ldmatrix(Box::new(Ldmatrix { shape, count: number, trans, address, targets })))
}

/// `stmatrix`.
pub(super) fn stmatrix(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let (number, trans, place) = tile(m)?;
    let [a, b] = count(ops)?;
    let sources = list(b).iter().map(|b| s.w(b)).collect::<Decoded<Vec<W>>>()?;
    let sources = right_count(sources, number)?;
    let address = s.address(a, place)?;
    let shape = MatrixShape::M8n8B16;
    Ok(Op::Stmatrix(Box::new(Stmatrix { shape, count: number, trans, address, sources })))
}

/// `movmatrix`.
pub(super) fn movmatrix(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    m.ignore(&[Word::Sync, Word::Aligned, Word::M8n8, Word::Trans]);
    m.ty()?;
    let [d, a] = count(ops)?;
    let a = s.w(a)?;
    Ok(Op::Movmatrix { d: s.dest_w(d)?, a })
}

pub(super) fn element(ty: Type) -> Option<Element> {
    let table = [
        (Type::F16, Element::F16),
        (Type::Bf16, Element::Bf16),
        (Type::Tf32, Element::Tf32),
        (Type::E4m3, Element::Mini(Minifloat::E4m3)),
        (Type::E5m2, Element::Mini(Minifloat::E5m2)),
    ];
    table.iter().find(|(t, _)| *t == ty).map(|(_, e)| *e)
}

pub(super) fn int_element(ty: Type) -> Option<IntElement> {
    let table = [
        (Type::U8, IntElement::U8),
        (Type::S8, IntElement::S8),
        (Type::U4, IntElement::U4),
        (Type::S4, IntElement::S4),
    ];
    table.iter().find(|(t, _)| *t == ty).map(|(_, e)| *e)
}

/// The shapes that are modelled: rows, k.
const SHAPES: &[(Word, (u32, u32))] = &[
    (Word::M8n8k4, (8, 4)),
    (Word::M8n8k16, (8, 16)),
    (Word::M8n8k32, (8, 32)),
    (Word::M16n8k4, (16, 4)),
    (Word::M16n8k8, (16, 8)),
    (Word::M16n8k16, (16, 16)),
    (Word::M16n8k32, (16, 32)),
    (Word::M16n8k64, (16, 64)),
    (Word::M16n8k128, (16, 128)),
    (Word::M16n8k256, (16, 256)),
];

/// `mma.sync`.
pub(super) fn mma(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    m.ignore(&[Word::Sync, Word::Aligned]);
    let (rows, k) = m.one_of(SHAPES).ok_or("the shape is not modelled")?;
    if !m.word(Word::Row) || !m.word(Word::Col) {
        return Err("only `.row.col` is modelled".to_owned());
    }
    let saturate = m.word(Word::Satfinite);
    let round = super::arith::round(m);
    let (d_type, a_type, b_type, c_type) = (m.ty()?, m.ty()?, m.ty()?, m.ty()?);
    let bit_op = m.one_of(&[(Word::Xor, BitOp::Xor), (Word::And, BitOp::And)]);
    m.ignore(&[Word::Popc]);
    let (kind, bits, d_bits) = if let (Some(a), Some(b)) = (element(a_type), element(b_type)) {
        if rows == 8 {
            return Err("the shape is not modelled for floats".to_owned());
        }
        let half = match (d_type, c_type) {
            (Type::F32, Type::F32) => false,
            (Type::F16, Type::F16) => true,
            _ => return Err("C and D are both `.f32`, or both `.f16`".to_owned()),
        };
        if a.per_register() != b.per_register() {
            return Err("A and B of different widths".to_owned());
        }
        (MmaKind::Float { a, b, half }, 32 / width(a.per_register())?, if half { 16 } else { 32 })
    } else if let (Some(a), Some(b)) = (int_element(a_type), int_element(b_type)) {
        if a_type.bits() != b_type.bits() {
            return Err("A and B of different widths".to_owned());
        }
        (MmaKind::Int { a, b, rows, saturate }, a_type.bits(), 32)
    } else if a_type == Type::B1 && b_type == Type::B1 && rows == 16 {
        (MmaKind::Bits { op: bit_op.ok_or("an operation is missing")? }, 1, 32)
    } else if a_type == Type::F64 && b_type == Type::F64 {
        (MmaKind::F64 { rows, round: round.unwrap_or(Round::NearestEven) }, 64, 64)
    } else {
        return Err("the operand types are not modelled".to_owned());
    };
    let [d, a, b, c] = count(ops)?;
    // Elements of a matrix over 32 lanes, in registers of 32 bits, or 64 for doubles.
    let per_register = if bits == 64 { 1 } else { 32 / bits };
    let registers = |elements: u32, per: u32| elements / 32 / per;
    let d_per = if d_bits == 16 { 2 } else { 1 };
    let width = if bits == 64 { 64 } else { 32 };
    let d = targets(s, d, registers(rows * 8, d_per), width)?;
    let a = sources(s, a, registers(rows * k, per_register), width)?;
    let b = sources(s, b, registers(8 * k, per_register), width)?;
    let c = sources(s, c, registers(rows * 8, d_per), width)?;
    Ok(Op::Mma(Box::new(Mma { kind, d, a, b, c })))
}

fn width(per_register: usize) -> Decoded<u32> {
    u32::try_from(per_register).map_err(|_| "an element width".to_owned())
}

fn targets(s: &Scope<'_>, operand: &Operand, number: u32, bits: u32) -> Decoded<Box<[Slot]>> {
    let slots = list(operand)
        .iter()
        .map(|d| if bits == 64 { s.dest_d(d).map(Slot::D) } else { s.dest_w(d).map(Slot::W) })
        .collect::<Decoded<Vec<_>>>()?;
    exactly(slots, number)
}

fn sources(s: &mut Scope<'_>, operand: &Operand, number: u32, bits: u32) -> Decoded<Box<[Slot]>> {
    let slots = list(operand).iter().map(|a| s.source(a, bits)).collect::<Decoded<Vec<_>>>()?;
    exactly(slots, number)
}

fn exactly(slots: Vec<Slot>, number: u32) -> Decoded<Box<[Slot]>> {
    if number > 0 && u32::try_from(slots.len()) == Ok(number) {
        Ok(slots.into())
    } else {
        Err(format!("{} registers where {number} are needed", slots.len()))
    }
}
