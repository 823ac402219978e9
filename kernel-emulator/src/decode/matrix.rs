//! Matrix instructions of a warp.

use kernel_ptx::{Operand, Type, Word};

use super::memory::shared;
use super::operands::{Decoded, Modifiers, Scope};
use super::{count, look_up};
use crate::code::{
    Ldmatrix, MatrixShape, Mma, MmaKind, MmaMetadata, MmaScales, Op, Slot, Stmatrix, W,
};
use crate::numeric::convert::Minifloat;
use crate::numeric::format::Round;
use crate::numeric::matrix::{BitOp, Element, IntElement};
use crate::numeric::scaled::Scaled;
use crate::numeric::sparse::Indices;
use crate::numeric::tcgen05::{Factor, Scale};

pub(super) fn list(operand: &Operand) -> &[Operand] {
    if let Operand::Vector(list) = operand { list } else { std::slice::from_ref(operand) }
}

/// Shape and number of matrices, whether they are transposed, and the state space.
type Tile = (MatrixShape, u32, bool, Option<crate::code::Place>);

/// `.m8n8.xN{.trans}{.shared}.b16`, `.m8n16.xN{.shared}.b8x16.b6x16_p32`
fn tile(mods: &mut Modifiers) -> Decoded<Tile> {
    mods.ignore(&[Word::Sync, Word::Aligned]);
    let padded = mods.word(Word::M8n16);
    if !padded && !mods.word(Word::M8n8) {
        return Err("only `.m8n8` and `.m8n16` are modelled".to_owned());
    }
    let number = mods
        .one_of(&[(Word::X1, 1), (Word::X2, 2), (Word::X4, 4)])
        .ok_or("a number of matrices is missing")?;
    let trans = mods.word(Word::Trans);
    let place = shared(mods)?;
    if padded {
        mods.ignore(&[Word::B8x16]);
        let bits = mods.one_of(&[(Word::B6x16P32, 6), (Word::B4x16P64, 4)]);
        return Ok((
            MatrixShape::M8n16(bits.ok_or("a source format is missing")?),
            number,
            trans,
            place,
        ));
    }
    if mods.ty()? != Type::B16 {
        return Err("only `.b16` is modelled".to_owned());
    }
    Ok((MatrixShape::M8n8B16, number, trans, place))
}

fn right_count<T>(registers: Vec<T>, number: u32) -> Decoded<Box<[T]>> {
    if u32::try_from(registers.len()) == Ok(number) {
        Ok(registers.into())
    } else {
        Err(format!("{} registers for {number} matrices", registers.len()))
    }
}

/// `ldmatrix`.
pub(super) fn ldmatrix(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let (shape, number, trans, place) = tile(mods)?;
    let [d, a] = count(ops)?;
    let targets = list(d).iter().map(|d| cx.dest_w(d)).collect::<Decoded<Vec<W>>>()?;
    let targets = right_count(targets, number)?;
    let address = cx.address(a, place)?;
    Ok(Op::Ldmatrix(Box::new(Ldmatrix { shape, count: number, trans, address, targets })))
}

/// `stmatrix`.
pub(super) fn stmatrix(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let (_, number, trans, place) = tile(mods)?;
    let [a, b] = count(ops)?;
    let sources = list(b).iter().map(|b| cx.w(b)).collect::<Decoded<Vec<W>>>()?;
    let sources = right_count(sources, number)?;
    let address = cx.address(a, place)?;
    Ok(Op::Stmatrix(Box::new(Stmatrix { count: number, trans, address, sources })))
}

/// `movmatrix`.
pub(super) fn movmatrix(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    mods.ignore(&[Word::Sync, Word::Aligned, Word::M8n8, Word::Trans]);
    mods.ty()?;
    let [d, a] = count(ops)?;
    let a = cx.w(a)?;
    Ok(Op::Movmatrix { d: cx.dest_w(d)?, a })
}

pub(super) fn element(ty: Type) -> Option<Element> {
    let table = [
        (Type::F16, Element::F16),
        (Type::Bf16, Element::Bf16),
        (Type::Tf32, Element::Tf32),
        (Type::E4m3, Element::Mini(Minifloat::E4m3)),
        (Type::E5m2, Element::Mini(Minifloat::E5m2)),
        (Type::E3m2, Element::Mini(Minifloat::E3m2)),
        (Type::E2m3, Element::Mini(Minifloat::E2m3)),
        (Type::E2m1, Element::Mini(Minifloat::E2m1)),
    ];
    look_up(&table, &ty)
}

pub(super) fn int_element(ty: Type) -> Option<IntElement> {
    let table = [
        (Type::U8, IntElement::U8),
        (Type::S8, IntElement::S8),
        (Type::U4, IntElement::U4),
        (Type::S4, IntElement::S4),
    ];
    look_up(&table, &ty)
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
pub(super) fn mma(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    mods.ignore(&[Word::Sync, Word::Aligned]);
    let sparse =
        mods.one_of(&[(Word::Sp, Indices::Any), (Word::SpOrderedMetadata, Indices::Ascending)]);
    let (rows, along_k) = mods.one_of(SHAPES).ok_or("the shape is not modelled")?;
    if !mods.word(Word::Row) || !mods.word(Word::Col) {
        return Err("only `.row.col` is modelled".to_owned());
    }
    let saturate = mods.word(Word::Satfinite);
    let round = super::arith::round(mods);
    // `.kind::f8f6f4` says nothing that the types of A and B do not say.
    mods.ignore(&[Word::KindF8f6f4]);
    if mods.word(Word::BlockScale) {
        return scaled(cx, mods, ops);
    }
    let (d_type, a_type, b_type, c_type) = (mods.ty()?, mods.ty()?, mods.ty()?, mods.ty()?);
    let bit_op = mods.one_of(&[(Word::Xor, BitOp::Xor), (Word::And, BitOp::And)]);
    mods.ignore(&[Word::Popc]);
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
    let whole = matches!(kind, MmaKind::Float { .. } | MmaKind::Int { rows: 16, .. }) && bits >= 8;
    if sparse.is_some() && !whole {
        return Err("the operand types are not modelled with a sparse A".to_owned());
    }
    let (ops, sparse) = match (sparse, ops) {
        (Some(indices), [dense @ .., metadata, selector]) => {
            let selector = Scope::immediate(selector)?;
            (dense, Some(MmaMetadata { data: cx.w(metadata)?, selector, indices }))
        }
        (_, ops) => (ops, None),
    };
    let [d, a, b, c] = count(ops)?;
    // Elements of a matrix over 32 lanes, in registers of 32 bits, or 64 for doubles.
    let per_register = if bits == 64 { 1 } else { 32 / bits };
    let registers = |elements: u32, per: u32| elements / 32 / per;
    let d_per = if d_bits == 16 { 2 } else { 1 };
    let width = if bits == 64 { 64 } else { 32 };
    let d = targets(cx, d, registers(rows * 8, d_per), width)?;
    // Half of a sparse A is kept.
    let along_a = if sparse.is_some() { along_k / 2 } else { along_k };
    let a = sources(cx, a, registers(rows * along_a, per_register), width)?;
    let b = sources(cx, b, registers(8 * along_k, per_register), width)?;
    let c = sources(cx, c, registers(rows * 8, d_per), width)?;
    Ok(Op::Mma(Box::new(Mma { kind, d, a, b, c, scales: None, sparse })))
}

/// `mma.sync` with `.block_scale`: 16 rows and 256 bits of a row of A, in f32.
fn scaled(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let in_pairs =
        [(Word::KindMxf8f6f4, false), (Word::KindMxf4, true), (Word::KindMxf4nvf4, true)];
    let in_pairs = mods.one_of(&in_pairs).ok_or("a kind is missing")?;
    let count = mods.one_of(&[(Word::ScaleVec1x, 1), (Word::ScaleVec2x, 2), (Word::ScaleVec4x, 4)]);
    let (_, a_type, b_type, _, scale) =
        (mods.ty()?, mods.ty()?, mods.ty()?, mods.ty()?, mods.ty()?);
    let factor = |ty: Type| match element(ty) {
        Some(Element::Mini(Minifloat::E2m1)) if in_pairs => Ok(Factor::Pairs),
        Some(Element::Mini(mini)) if !in_pairs => Ok(Factor::Mini(mini)),
        Some(_) | None => Err("the operand types are not modelled".to_owned()),
    };
    let scale = if scale == Type::Ue8m0 { Scale::Ue8m0 } else { Scale::Ue4m3 };
    let (a_factor, b_factor) = (factor(a_type)?, factor(b_type)?);
    let count = count.unwrap_or(if in_pairs { 2 } else { 1 });
    let kind = MmaKind::Scaled(Scaled { a: a_factor, b: b_factor, scale, count });
    let [d, a, b, c, a_scales, a_selector, b_scales, b_selector] = super::count(ops)?;
    let (d, a) = (targets(cx, d, 4, 32)?, sources(cx, a, 4, 32)?);
    let (b, c) = (sources(cx, b, 2, 32)?, sources(cx, c, 4, 32)?);
    let mut scales = |data: &Operand, selector: &Operand| -> Decoded<MmaScales> {
        let [byte, thread] = list(selector) else {
            return Err("a selector has two numbers".to_owned());
        };
        Ok(MmaScales { data: cx.w(data)?, byte: cx.h(byte)?, thread: cx.h(thread)? })
    };
    let scales = Some([scales(a_scales, a_selector)?, scales(b_scales, b_selector)?]);
    Ok(Op::Mma(Box::new(Mma { kind, d, a, b, c, scales, sparse: None })))
}

fn width(per_register: usize) -> Decoded<u32> {
    u32::try_from(per_register).map_err(|_| "an element width".to_owned())
}

fn targets(cx: &Scope<'_>, operand: &Operand, number: u32, bits: u32) -> Decoded<Box<[Slot]>> {
    let slots = list(operand)
        .iter()
        .map(|d| if bits == 64 { cx.dest_d(d).map(Slot::D) } else { cx.dest_w(d).map(Slot::W) })
        .collect::<Decoded<Vec<_>>>()?;
    exactly(slots, number)
}

fn sources(cx: &mut Scope<'_>, operand: &Operand, number: u32, bits: u32) -> Decoded<Box<[Slot]>> {
    let slots = list(operand).iter().map(|a| cx.source(a, bits)).collect::<Decoded<Vec<_>>>()?;
    exactly(slots, number)
}

fn exactly(slots: Vec<Slot>, number: u32) -> Decoded<Box<[Slot]>> {
    if number > 0 && u32::try_from(slots.len()) == Ok(number) {
        Ok(slots.into())
    } else {
        Err(format!("{} registers where {number} are needed", slots.len()))
    }
}
