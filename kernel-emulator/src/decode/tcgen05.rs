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
pub(super) fn tcgen05(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    mods.ignore(&[Word::Sync, Word::Aligned]);
    let op = if mods.word(Word::Alloc) {
        alloc(cx, mods, ops)?
    } else if mods.word(Word::Dealloc) {
        mods.ty()?;
        let [address, columns] = count(ops)?;
        Tcgen05::Dealloc {
            group: group(cx, mods)?,
            address: cx.w(address)?,
            columns: cx.w(columns)?,
        }
    } else if mods.word(Word::RelinquishAllocPermit) {
        Tcgen05::Relinquish { group: group(cx, mods)? }
    } else if mods.word(Word::LdWord) {
        Tcgen05::Load(access(cx, mods, ops, Way::Load)?)
    } else if mods.word(Word::StWord) {
        Tcgen05::Store(access(cx, mods, ops, Way::Store)?)
    } else if mods.word(Word::WaitLd) {
        Tcgen05::WaitLoads
    } else if mods.word(Word::WaitSt) {
        Tcgen05::WaitStores
    } else if mods.word(Word::FenceBeforeThreadSync) {
        Tcgen05::FenceBefore
    } else if mods.word(Word::FenceAfterThreadSync) {
        Tcgen05::FenceAfter
    } else if mods.word(Word::MmaWord) {
        Tcgen05::Mma(mma(cx, mods, ops)?)
    } else if mods.word(Word::CpWord) {
        Tcgen05::Copy(copy(cx, mods, ops)?)
    } else if mods.word(Word::Shift) {
        mods.ignore(&[Word::Down]);
        let [address] = count(ops)?;
        Tcgen05::Shift { group: group(cx, mods)?, address: tensor(cx, address)? }
    } else if mods.word(Word::Commit) {
        commit(cx, mods, ops)?
    } else {
        return Err("the form is not modelled".to_owned());
    };
    Ok(Op::Tcgen05(Box::new(op)))
}

/// The blocks that act together: all instructions of a kernel say the same.
fn group(cx: &mut Scope<'_>, mods: &mut Modifiers) -> Decoded<Group> {
    let group = mods
        .one_of(&[(Word::CtaGroup1, Group::One), (Word::CtaGroup2, Group::Pair)])
        .ok_or("`.cta_group` is missing")?;
    if cx.code.tensor_group.is_some_and(|first| first != group) {
        return Err(
            "all `tcgen05` of a kernel are `.cta_group::1`, or all are `.cta_group::2`".to_owned()
        );
    }
    cx.code.tensor_group = Some(group);
    Ok(group)
}

/// An address of tensor memory.
fn tensor(cx: &mut Scope<'_>, operand: &Operand) -> Decoded<Address> {
    // Its numbers are computed as those of a window of 32 bits.
    cx.address(operand, Some(Place::Shared))
}

fn alloc(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Tcgen05> {
    let place = mods.space()?;
    mods.ty()?;
    let [to, columns] = count(ops)?;
    let group = group(cx, mods)?;
    Ok(Tcgen05::Alloc { group, to: cx.address(to, place)?, columns: cx.w(columns)? })
}

#[derive(Clone, Copy)]
enum Way {
    Load,
    Store,
}

fn access(
    cx: &mut Scope<'_>,
    mods: &mut Modifiers,
    ops: &[Operand],
    way: Way,
) -> Decoded<TensorAccess> {
    mods.ty()?;
    let shape = mods
        .take_text(|text| text.starts_with("32x32b") || text.starts_with("16x"))
        .ok_or("a shape is missing")?;
    mods.take_text(|text| text.starts_with('x')).ok_or("`.x1` to `.x128` is missing")?;
    let halves = mods.word(Word::Pack16b) || mods.word(Word::Unpack16b);
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
        Way::Load => list.map(|r| cx.dest_w(r)).collect::<Decoded<Vec<W>>>()?,
        Way::Store => list.map(|r| cx.w(r)).collect::<Decoded<Vec<W>>>()?,
    };
    Ok(TensorAccess { address: tensor(cx, address)?, shape, registers: registers.into(), halves })
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
fn scale_count(mods: &mut Modifiers, kind: Kind) -> Option<u32> {
    let written = mods.one_of(&[
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

fn mma(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<TensorMma> {
    let group = group(cx, mods)?;
    let sparse = mods.word(Word::Sp);
    let stationary = mods.word(Word::Ws);
    let kind = mods.one_of(KINDS).ok_or("a kind is missing")?;
    mods.ignore(&[Word::BlockScale]);
    let count = scale_count(mods, kind);
    let shifted = mods.word(Word::Ashift);
    if sparse && (stationary || shifted || count.is_some()) {
        return Err(
            "`.sp` together with `.ws`, `.ashift` or `.block_scale` is not modelled".to_owned()
        );
    }
    // The collector keeps an operand for the next product, whose result does not depend on it.
    mods.take_text(|text| text.starts_with("collector::"));
    let mut ops = ops.iter();
    let d = tensor(cx, next(&mut ops)?)?;
    let a = next(&mut ops)?;
    let a = if matches!(a, Operand::Address { .. }) {
        TensorLeft::Tensor(tensor(cx, a)?)
    } else {
        TensorLeft::Shared(cx.d(a)?)
    };
    let b = cx.d(next(&mut ops)?)?;
    let metadata = if sparse { Some(tensor(cx, next(&mut ops)?)?) } else { None };
    let descriptor = cx.w(next(&mut ops)?)?;
    let scales = match count {
        None => None,
        Some(count) => {
            let (a, b) = (next(&mut ops)?, next(&mut ops)?);
            Some(Scales { a: tensor(cx, a)?, b: tensor(cx, b)?, count })
        }
    };
    let mut operand = next(&mut ops)?;
    let mut disabled = Vec::new();
    if matches!(operand, Operand::Vector(_)) {
        disabled = list(operand).iter().map(|word| cx.w(word)).collect::<Decoded<Vec<W>>>()?;
        operand = next(&mut ops)?;
    }
    let accumulate = cx.pred(operand)?;
    let (mut scale_input, mut zero_columns) = (0, None);
    match ops.next() {
        None => {}
        Some(mask) if stationary => zero_columns = Some(cx.d(mask)?),
        Some(power) => scale_input = Scope::immediate(power)?,
    }
    Ok(TensorMma {
        group,
        kind,
        stationary,
        d,
        a,
        b,
        metadata,
        descriptor,
        scales,
        disabled: disabled.into(),
        accumulate,
        scale_input,
        zero_columns,
        shifted,
    })
}

fn copy(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<TensorCopy> {
    let group = group(cx, mods)?;
    let shape = mods
        .one_of(&[
            (Word::S128x256b, CopyShape::R128B256),
            (Word::S128x128b, CopyShape::R128B128),
            (Word::S4x256b, CopyShape::R4B256),
            (Word::Warpx2R0213, CopyShape::R64Warps0213),
            (Word::Warpx2R0123, CopyShape::R64Warps0123),
            (Word::Warpx4, CopyShape::R32),
        ])
        .ok_or("a shape is missing")?;
    mods.ignore(&[Word::S64x128b, Word::S32x128b, Word::B8x16]);
    // The shape of a copy to several warps stands after their word, or before it.
    mods.ignore(&[Word::Warpx2R0213, Word::Warpx2R0123, Word::Warpx4]);
    let expand = mods.one_of(&[(Word::B6x16P32, Expand::From6), (Word::B4x16P64, Expand::From4)]);
    let [to, from] = count(ops)?;
    Ok(TensorCopy { group, to: tensor(cx, to)?, from: cx.d(from)?, shape, expand })
}

fn commit(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Tcgen05> {
    group(cx, mods)?;
    mods.ignore(&[Word::MbarrierArriveOne]);
    let multicast = mods.word(Word::MulticastCluster);
    let place = mods.space()?;
    mods.ty()?;
    let (barrier, mask) = match ops {
        [barrier] if !multicast => (barrier, None),
        [barrier, mask] if multicast => (barrier, Some(cx.h(mask)?)),
        _ => return Err("a mask of blocks and `.multicast::cluster` go together".to_owned()),
    };
    Ok(Tcgen05::Commit { barrier: cx.address(barrier, place)?, multicast: mask })
}
