//! Bulk copies, tensor copies, asynchronous stores, tensor maps.

use kernel_ptx::{Operand, Word};

use super::count;
use super::memory::{Verb, operation, scope};
use super::operands::{Decoded, Modifiers, Scope, describe};
use crate::code::tcgen05::Group;
use crate::code::{
    Address, AsyncStore, Bulk, BulkCopy, BulkWay, Elements, Landing, MapCopy, MapField,
    MemoryScope, Op, Place, Replace, Tensor, TensorWay,
};
use crate::numeric::atomic::IntOp;

/// The operations of `cp.reduce` and `red.async`.
const REDUCTIONS: &[(Word, IntOp)] = &[
    (Word::Add, IntOp::Add),
    (Word::Min, IntOp::Min),
    (Word::Max, IntOp::Max),
    (Word::Inc, IntOp::Inc),
    (Word::Dec, IntOp::Dec),
    (Word::And, IntOp::And),
    (Word::Or, IntOp::Or),
    (Word::Xor, IntOp::Xor),
];

/// Forms of later devices, and stores of convolutions.
const NOT_MODELLED: &[Word] =
    &[Word::Im2colNoOffs, Word::Im2colW, Word::Im2colW128, Word::CpMask, Word::IgnoreOob];

/// The next operand.
fn next<'o>(ops: &mut std::slice::Iter<'o, Operand>) -> Decoded<&'o Operand> {
    ops.next().ok_or_else(|| "operands are missing".to_owned())
}

/// `cp.async.bulk` and `cp.reduce.async.bulk`, all forms.
pub(super) fn cp(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    mods.ignore(&[Word::Async]);
    if mods.word(Word::CommitGroup) {
        return Ok(Op::Bulk(BulkCopy::Commit));
    }
    if mods.word(Word::WaitGroup) {
        let [keep] = count(ops)?;
        let (keep, reads_only) = (Scope::immediate(keep)?, mods.word(Word::Read));
        return Ok(Op::Bulk(BulkCopy::Wait { keep, reads_only }));
    }
    if let Some(word) = NOT_MODELLED.iter().find(|word| mods.word(**word)) {
        return Err(format!("`.{}` is not modelled", word.text()));
    }
    let reduce = mods.word(Word::Reduce);
    let tensor = mods.word(Word::TensorWord);
    // A policy of the cache comes last, and means nothing here.
    let ops =
        if mods.word(Word::L2CacheHint) { ops.split_last().map_or(ops, |(_, o)| o) } else { ops };
    let mut ops = ops.iter();
    let verb = if reduce {
        Some(mods.one_of(REDUCTIONS).ok_or_else(|| "an operation is missing".to_owned())?)
    } else {
        None
    };
    mods.ignore(&[Word::Noftz]);
    let op = if tensor {
        mods.ignore(&[Word::Tile, Word::D1, Word::D2, Word::D3, Word::D4, Word::D5]);
        self::tensor(cx, mods, &mut ops, verb)?
    } else {
        bulk(cx, mods, &mut ops, verb)?
    };
    match ops.next() {
        None => Ok(op),
        Some(operand) => Err(format!("{} too many", describe(operand))),
    }
}

/// The ways of a copy, by its modifiers.
enum Way {
    Load { own: bool, multicast: bool },
    Push,
    Store,
    Prefetch,
}

fn way(mods: &mut Modifiers) -> Decoded<Way> {
    let (cluster, cta) = (mods.word(Word::SharedCluster), mods.word(Word::SharedCta));
    let global = mods.space()? == Some(Place::Global);
    let (barrier, group) = (mods.word(Word::MbarrierCompleteTxBytes), mods.word(Word::BulkGroup));
    let multicast = mods.word(Word::MulticastCluster);
    if mods.word(Word::PrefetchWord) {
        mods.ignore(&[Word::L2Word]);
        return Ok(Way::Prefetch);
    }
    match (barrier, group, global, cluster, cta) {
        (true, false, true, true, false) => Ok(Way::Load { own: false, multicast }),
        (true, false, true, false, true) => Ok(Way::Load { own: true, multicast }),
        (true, false, false, true, true) => Ok(Way::Push),
        (false, true, true, false, true) => Ok(Way::Store),
        _ => Err("the form is not modelled".to_owned()),
    }
}

/// The operands of a copy to shared memory that stand after its destination and source.
fn landing(
    cx: &mut Scope<'_>,
    to: &Operand,
    ops: &mut std::slice::Iter<'_, Operand>,
    (own, multicast, group): (bool, bool, Group),
) -> Decoded<Landing> {
    let to = cx.address(to, Some(Place::Shared))?;
    let barrier = cx.address(next(ops)?, Some(Place::Shared))?;
    let multicast = if multicast { Some(cx.h(next(ops)?)?) } else { None };
    Ok(Landing { to, barrier, multicast, own, group })
}

fn bulk(
    cx: &mut Scope<'_>,
    mods: &mut Modifiers,
    ops: &mut std::slice::Iter<'_, Operand>,
    verb: Option<IntOp>,
) -> Decoded<Op> {
    let way = way(mods)?;
    let op = match verb {
        None => None,
        Some(verb) => Some(operation(Verb::Int(verb), mods.ty()?)?),
    };
    let to = if matches!(way, Way::Prefetch) { None } else { Some(next(ops)?) };
    let from_place = match way {
        Way::Load { .. } | Way::Prefetch => Place::Global,
        Way::Push | Way::Store => Place::Shared,
    };
    let from = cx.address(next(ops)?, Some(from_place))?;
    let bytes = cx.w(next(ops)?)?;
    let way = match (way, to) {
        (Way::Load { own, multicast }, Some(to)) => {
            BulkWay::Load(landing(cx, to, ops, (own, multicast, Group::One))?)
        }
        (Way::Push, Some(to)) => BulkWay::Push {
            to: cx.address(to, Some(Place::Shared))?,
            barrier: cx.address(next(ops)?, Some(Place::Shared))?,
        },
        (Way::Store, Some(to)) => BulkWay::Store { to: cx.address(to, Some(Place::Global))? },
        (Way::Prefetch, _) | (_, None) => BulkWay::Prefetch,
    };
    Ok(Op::Bulk(BulkCopy::Bytes(Box::new(Bulk { way, from, bytes, op }))))
}

fn tensor(
    cx: &mut Scope<'_>,
    mods: &mut Modifiers,
    ops: &mut std::slice::Iter<'_, Operand>,
    verb: Option<IntOp>,
) -> Decoded<Op> {
    let elements = mods
        .one_of(&[
            (Word::TileGather4, Elements::FourRows),
            (Word::TileScatter4, Elements::FourRows),
            (Word::Im2col, Elements::Pixels),
        ])
        .unwrap_or(Elements::Tile);
    let groups = [(Word::CtaGroup1, Group::One), (Word::CtaGroup2, Group::Pair)];
    let group = mods.one_of(&groups).unwrap_or(Group::One);
    let way = way(mods)?;
    let is_im2col = elements == Elements::Pixels;
    let mut offsets = Box::default();
    let (way, (map, coordinates)) = match way {
        Way::Load { own, multicast } => {
            let to = cx.address(next(ops)?, Some(Place::Shared))?;
            let map = tensor_address(cx, next(ops)?)?;
            let barrier = cx.address(next(ops)?, Some(Place::Shared))?;
            if is_im2col {
                offsets = self::offsets(cx, next(ops)?)?;
            }
            let multicast = if multicast { Some(cx.h(next(ops)?)?) } else { None };
            (TensorWay::Load(Landing { to, barrier, multicast, own, group }), map)
        }
        Way::Store => {
            let map = tensor_address(cx, next(ops)?)?;
            let from = cx.address(next(ops)?, Some(Place::Shared))?;
            (TensorWay::Store { from, op: verb }, map)
        }
        Way::Prefetch => {
            let map = tensor_address(cx, next(ops)?)?;
            if is_im2col {
                offsets = self::offsets(cx, next(ops)?)?;
            }
            (TensorWay::Prefetch, map)
        }
        Way::Push => return Err("the form is not modelled".to_owned()),
    };
    Ok(Op::Bulk(BulkCopy::Tensor(Box::new(Tensor { way, map, elements, coordinates, offsets }))))
}

/// `{offsets}` of im2col.
fn offsets(cx: &mut Scope<'_>, operand: &Operand) -> Decoded<Box<[crate::code::W]>> {
    let (Operand::Vector(list) | Operand::List(list)) = operand else {
        return Err(format!("{} where offsets are needed", describe(operand)));
    };
    list.iter().map(|operand| cx.h(operand)).collect()
}

/// `[map, {coordinates}]`
fn tensor_address(
    cx: &mut Scope<'_>,
    operand: &Operand,
) -> Decoded<(Address, Box<[crate::code::W]>)> {
    let Operand::TensorAddress { base, offset, lists } = operand else {
        return Err(format!("{} where a tensor address is needed", describe(operand)));
    };
    let [list] = lists.as_slice() else {
        return Err(format!("{} lists of coordinates where 1 is needed", lists.len()));
    };
    let plain = Operand::Address { base: base.clone(), offset: *offset };
    let map = cx.address(&plain, None)?;
    let coordinates = list.iter().map(|operand| cx.w(operand)).collect::<Decoded<_>>()?;
    Ok((map, coordinates))
}

/// `st.async`.
pub(super) fn st_async(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    mods.ignore(&[Word::Weak, Word::SharedCluster, Word::MbarrierCompleteTxBytes]);
    let elements = mods.one_of(&[(Word::V2, 2), (Word::V4, 4)]).unwrap_or(1);
    let bits = mods.ty()?.bits();
    let [to, values, barrier] = count(ops)?;
    let mut sources = Vec::new();
    for operand in super::memory::elements(values, elements)? {
        sources.push(cx.source(operand, bits)?);
    }
    async_store(cx, (to, barrier), bits / 8, sources, None)
}

/// `red.async`.
pub(super) fn red_async(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    mods.ignore(&[
        Word::Relaxed,
        Word::Cluster,
        Word::SharedCluster,
        Word::MbarrierCompleteTxBytes,
    ]);
    let verb = mods.one_of(REDUCTIONS).ok_or_else(|| "an operation is missing".to_owned())?;
    let ty = mods.ty()?;
    let [to, value, barrier] = count(ops)?;
    let source = cx.source(value, ty.bits())?;
    let op = operation(Verb::Int(verb), ty)?;
    async_store(cx, (to, barrier), ty.bits() / 8, vec![source], Some(op))
}

fn async_store(
    cx: &mut Scope<'_>,
    (to, barrier): (&Operand, &Operand),
    bytes: u32,
    sources: Vec<crate::code::Slot>,
    op: Option<crate::code::AtomOp>,
) -> Decoded<Op> {
    let to = cx.address(to, Some(Place::Shared))?;
    let barrier = cx.address(barrier, Some(Place::Shared))?;
    let store = AsyncStore { to, barrier, bytes, sources: sources.into(), op };
    Ok(Op::Bulk(BulkCopy::Store(Box::new(store))))
}

/// `tensormap`, all forms.
pub(super) fn tensormap(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    if mods.word(Word::CpFenceproxy) {
        mods.ignore(&[Word::TensormapGeneric, Word::Release, Word::Sync, Word::Aligned]);
        let scope = scope(mods).unwrap_or(MemoryScope::Sys);
        mods.ignore(&[Word::SharedCta]);
        let _ = mods.space()?;
        let [to, from, bytes] = count(ops)?;
        if Scope::immediate(bytes)? != 128 {
            return Err("a tensor map has 128 bytes".to_owned());
        }
        let to = cx.address(to, Some(Place::Global))?;
        let from = cx.address(from, Some(Place::Shared))?;
        return Ok(Op::TensormapCopy(Box::new(MapCopy { to, from, scope })));
    }
    mods.ignore(&[Word::Replace, Word::Tile, Word::B1024]);
    let place = mods.space()?;
    let field = mods.one_of(&[
        (Word::GlobalAddress, MapField::GlobalAddress),
        (Word::Rank, MapField::Rank),
        (Word::BoxDim, MapField::BoxDim(0)),
        (Word::GlobalDim, MapField::GlobalDim(0)),
        (Word::GlobalStride, MapField::GlobalStride(0)),
        (Word::ElementStride, MapField::ElementStride(0)),
        (Word::Elemtype, MapField::ElementType),
        (Word::InterleaveLayout, MapField::Interleave),
        (Word::SwizzleMode, MapField::Swizzle),
        (Word::FillMode, MapField::Fill),
    ]);
    let field = field.ok_or_else(|| "the field is not modelled".to_owned())?;
    let bits = mods.ty()?.bits();
    let (map, index, value) = match ops {
        [map, value] => (map, None, value),
        [map, index, value] => (map, Some(Scope::immediate(index)? as usize), value),
        _ => return Err(format!("{} operands where 2 or 3 are needed", ops.len())),
    };
    let field = match (field, index) {
        (MapField::BoxDim(_), Some(i)) => MapField::BoxDim(i),
        (MapField::GlobalDim(_), Some(i)) => MapField::GlobalDim(i),
        (MapField::GlobalStride(_), Some(i)) => MapField::GlobalStride(i),
        (MapField::ElementStride(_), Some(i)) => MapField::ElementStride(i),
        (field, None) => field,
        (_, Some(_)) => return Err("the field has no dimensions".to_owned()),
    };
    let map = cx.address(map, place)?;
    Ok(Op::TensormapReplace(Box::new(Replace { map, field, value: cx.source(value, bits)? })))
}
