//! Tensor memory and the products of the fifth generation of tensor cores.

use kernel_ptx::{Operand, Word};

use super::count;
use super::matrix::list;
use super::operands::{Decoded, Modifiers, Scope};
use crate::code::tcgen05::{
    AccessShape, CopyShape, Expand, Group, Kind, Scales, Tcgen05, TensorAccess, TensorCopy,
    TensorLeft, TensorMma,
};
use crate::code::{Address, Op, Place, W};

/// `tcgen05`, all forms.
pub(super) fn tcgen05(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    m.ignore(&[Word::Sync, Word::Aligned]);
    let op = if m.word(Word::Alloc) {
        alloc(s, m, ops)?
    } else if m.word(Word::Dealloc) {
        m.ty()?;
        let [address, columns] = count(ops)?;
        Tcgen05::Dealloc { group: group(s, m)?, address: s.w(address)?, columns: s.w(columns)? }
    } else if m.word(Word::RelinquishAllocPermit) {
        Tcgen05::Relinquish { group: group(s, m)? }
    } else if m.word(Word::LdWord) {
        Tcgen05::Load(access(s, m, ops, Way::Load)?)
    } else if m.word(Word::StWord) {
        Tcgen05::Store(access(s, m, ops, Way::Store)?)
    } else if m.word(Word::WaitLd) {
        Tcgen05::WaitLoads
    } else if m.word(Word::WaitSt) {
        Tcgen05::WaitStores
    } else if m.word(Word::FenceBeforeThreadSync) {
        Tcgen05::FenceBefore
    } else if m.word(Word::FenceAfterThreadSync) {
        Tcgen05::FenceAfter
    } else if m.word(Word::MmaWord) {
        Tcgen05::Mma(mma(s, m, ops)?)
    } else if m.word(Word::CpWord) {
        Tcgen05::Copy(copy(s, m, ops)?)
    } else if m.word(Word::Shift) {
        m.ignore(&[Word::Down]);
        let [address] = count(ops)?;
        Tcgen05::Shift { group: group(s, m)?, address: tensor(s, address)? }
    } else if m.word(Word::Commit) {
        commit(s, m, ops)?
    } else {
        return Err("the form is not modelled".to_owned());
    };
    Ok(Op::Tcgen05(Box::new(op)))
}

/// The blocks that act together: all instructions of a kernel say the same.
fn group(s: &mut Scope<'_>, m: &mut Modifiers) -> Decoded<Group> {
    let group = m
        .one_of(&[(Word::CtaGroup1, Group::One), (Word::CtaGroup2, Group::Pair)])
        .ok_or("`.cta_group` is missing")?;
    if s.code.tensor_group.is_some_and(|first| first != group) {
        return Err(
            "all `tcgen05` of a kernel are `.cta_group::1`, or all are `.cta_group::2`".to_owned()
        );
    }
    s.code.tensor_group = Some(group);
    Ok(group)
}

/// An address of tensor memory.
fn tensor(s: &mut Scope<'_>, operand: &Operand) -> Decoded<Address> {
    // Its numbers are computed as those of a window of 32 bits.
    s.address(operand, Some(Place::Shared))
}

fn alloc(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Tcgen05> {
    let place = m.space()?;
    m.ty()?;
    let [to, columns] = count(ops)?;
    let group = group(s, m)?;
    Ok(Tcgen05::Alloc { group, to: s.address(to, place)?, columns: s.w(columns)? })
}

#[derive(Clone, Copy)]
enum Way {
    Load,
    Store,
}

fn access(
    s: &mut Scope<'_>,
    m: &mut Modifiers,
    ops: &[Operand],
    way: Way,
) -> Decoded<TensorAccess> {
    m.ty()?;
    let shape = m
        .take_text(|text| text.starts_with("32x32b") || text.starts_with("16x"))
        .ok_or("a shape is missing")?;
    m.take_text(|text| text.starts_with('x')).ok_or("`.x1` to `.x128` is missing")?;
    let halves = m.word(Word::Pack16b) || m.word(Word::Unpack16b);
    let ((Way::Load, [registers, address, split @ ..])
    | (Way::Store, [address, split @ .., registers])) = (way, ops)
    else {
        return Err("operands are missing".to_owned());
    };
    let shape = match (shape, split) {
        ("32x32b", []) => AccessShape::L32B32,
        ("16x64b", []) => AccessShape::L16B64,
        ("16x128b", []) => AccessShape::L16B128,
        ("16x256b", []) => AccessShape::L16B256,
        ("16x32bx2", [split]) => AccessShape::L16B32x2 { split: Scope::immediate(split)? },
        (shape, _) => return Err(format!("the operands of `.{shape}` are others")),
    };
    let list = list(registers).iter();
    let registers = match way {
        Way::Load => list.map(|r| s.dest_w(r)).collect::<Decoded<Vec<W>>>()?,
        Way::Store => list.map(|r| s.w(r)).collect::<Decoded<Vec<W>>>()?,
    };
    Ok(TensorAccess { address: tensor(s, address)?, shape, registers: registers.into(), halves })
}

/// The next operand.
fn next<'o>(ops: &mut std::slice::Iter<'o, Operand>) -> Decoded<&'o Operand> {
    ops.next().ok_or_else(|| "operands are missing".to_owned())
}

const KINDS: &[(Word, Kind)] = &[
    (Word::KindF16, Kind::F16),
    (Word::KindTf32, Kind::Tf32),
    (Word::KindF8f6f4, Kind::F8f6f4),
    (Word::KindI8, Kind::I8),
    (Word::KindMxf8f6f4, Kind::Mxf8f6f4),
    (Word::KindMxf4, Kind::Mxf4),
    (Word::KindMxf4nvf4, Kind::Mxf4nvf4),
];

/// Scales of a row in one instruction: each is for 32 elements, or for 16.
fn scale_count(m: &mut Modifiers, kind: Kind) -> Option<u32> {
    let written = m.one_of(&[
        (Word::ScaleVec1x, 1),
        (Word::ScaleVec2x, 2),
        (Word::ScaleVec4x, 4),
        (Word::Block16, 4),
        (Word::Block32, if kind == Kind::Mxf8f6f4 { 1 } else { 2 }),
    ]);
    match kind {
        Kind::F16 | Kind::Tf32 | Kind::F8f6f4 | Kind::I8 => None,
        Kind::Mxf8f6f4 => Some(written.unwrap_or(1)),
        Kind::Mxf4 | Kind::Mxf4nvf4 => Some(written.unwrap_or(2)),
    }
}

fn mma(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<TensorMma> {
    let group = group(s, m)?;
    if m.word(Word::Sp) {
        return Err("`.sp`, products that leave out half of A, are not modelled".to_owned());
    }
    let stationary = m.word(Word::Ws);
    let kind = m.one_of(KINDS).ok_or("a kind is missing")?;
    m.ignore(&[Word::BlockScale]);
    let count = scale_count(m, kind);
    let shifted = m.word(Word::Ashift);
    // The collector keeps an operand for the next product, whose result does not depend on it.
    m.take_text(|text| text.starts_with("collector::"));
    let mut ops = ops.iter();
    let d = tensor(s, next(&mut ops)?)?;
    let a = match next(&mut ops)? {
        address @ Operand::Address { .. } => TensorLeft::Tensor(tensor(s, address)?),
        descriptor => TensorLeft::Shared(s.d(descriptor)?),
    };
    let b = s.d(next(&mut ops)?)?;
    let descriptor = s.w(next(&mut ops)?)?;
    let scales = match count {
        None => None,
        Some(count) => {
            let (a, b) = (next(&mut ops)?, next(&mut ops)?);
            Some(Scales { a: tensor(s, a)?, b: tensor(s, b)?, count })
        }
    };
    let mut operand = next(&mut ops)?;
    let mut disabled = Vec::new();
    if matches!(operand, Operand::Vector(_)) {
        disabled = list(operand).iter().map(|word| s.w(word)).collect::<Decoded<Vec<W>>>()?;
        operand = next(&mut ops)?;
    }
    let accumulate = s.pred(operand)?;
    let (mut scale_input, mut zero_columns) = (0, None);
    match ops.next() {
        None => {}
        Some(mask) if stationary => zero_columns = Some(s.d(mask)?),
        Some(power) => scale_input = Scope::immediate(power)?,
    }
    Ok(TensorMma {
        group,
        kind,
        stationary,
        d,
        a,
        b,
        descriptor,
        scales,
        disabled: disabled.into(),
        accumulate,
        scale_input,
        zero_columns,
        shifted,
    })
}

fn copy(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<TensorCopy> {
    let group = group(s, m)?;
    let shape = m
        .one_of(&[
            (Word::S128x256b, CopyShape::R128B256),
            (Word::S128x128b, CopyShape::R128B128),
            (Word::S4x256b, CopyShape::R4B256),
            (Word::Warpx2R0213, CopyShape::R64Warps0213),
            (Word::Warpx2R0123, CopyShape::R64Warps0123),
            (Word::Warpx4, CopyShape::R32),
        ])
        .ok_or("a shape is missing")?;
    m.ignore(&[Word::S64x128b, Word::S32x128b, Word::B8x16]);
    // The shape of a copy to several warps stands after their word, or before it.
    m.ignore(&[Word::Warpx2R0213, Word::Warpx2R0123, Word::Warpx4]);
    let expand = m.one_of(&[(Word::B6x16P32, Expand::From6), (Word::B4x16P64, Expand::From4)]);
    let [to, from] = count(ops)?;
    Ok(TensorCopy { group, to: tensor(s, to)?, from: s.d(from)?, shape, expand })
}

fn commit(s: &mut Scope<'_>, m: &mut Modifiers, ops: &[Operand]) -> Decoded<Tcgen05> {
    group(s, m)?;
    m.ignore(&[Word::MbarrierArriveOne]);
    let multicast = m.word(Word::MulticastCluster);
    let place = m.space()?;
    m.ty()?;
    let (barrier, mask) = match ops {
        [barrier] if !multicast => (barrier, None),
        [barrier, mask] if multicast => (barrier, Some(s.h(mask)?)),
        _ => return Err("a mask of blocks and `.multicast::cluster` go together".to_owned()),
    };
    Ok(Tcgen05::Commit { barrier: s.address(barrier, place)?, multicast: mask })
}
