//! Loads, stores, atomic operations, cache hints.

use kernel_ptx::{Opcode, Operand, Type, Word};

use super::arith::{Arithmetic, arithmetic};
use super::count;
use super::matrix::list;
use super::operands::{Decoded, Modifiers, Scope, register_bits};
use crate::code::{
    Atom, AtomOp, Extend, Load, MemoryScope, Op, Order, Place, Preset, Store, Zeros,
};
use crate::numeric::atomic::{FloatOp, IntOp};
use crate::numeric::integer::Int;

/// Words that say how caches treat an access, which has no meaning here.
const CACHE: &[Word] = &[
    Word::Ca,
    Word::Cg,
    Word::Cs,
    Word::Lu,
    Word::Cv,
    Word::Wb,
    Word::Wt,
    Word::L1EvictNormal,
    Word::L1EvictUnchanged,
    Word::L1EvictFirst,
    Word::L1EvictLast,
    Word::L1NoAllocate,
    Word::L2EvictFirst,
    Word::L2EvictLast,
    Word::L2EvictNormal,
    Word::L2EvictUnchanged,
    Word::L2CacheHint,
    Word::L2B64,
    Word::L2B128,
    Word::L2B256,
    Word::L1Word,
    Word::L2Word,
];

fn vector(mods: &mut Modifiers) -> usize {
    mods.one_of(&[(Word::V2, 2), (Word::V4, 4), (Word::V8, 8)]).unwrap_or(1)
}

/// The elements of a vector operand, or the operand itself.
pub(super) fn elements(operand: &Operand, count: usize) -> Decoded<&[Operand]> {
    if !matches!(operand, Operand::Vector(_)) && count != 1 {
        return Err(format!("a vector of {count} registers is needed"));
    }
    let list = list(operand);
    if list.len() == count {
        Ok(list)
    } else {
        Err(format!("{} registers where {count} are needed", list.len()))
    }
}

/// The scope that modifiers name.
pub(super) fn scope(mods: &mut Modifiers) -> Option<MemoryScope> {
    mods.one_of(&[
        (Word::Cta, MemoryScope::Cta),
        (Word::Cluster, MemoryScope::Cluster),
        (Word::Gpu, MemoryScope::Gpu),
        (Word::Sys, MemoryScope::Sys),
    ])
}

/// How a load or store takes part in the order of memory. `.volatile` and `.mmio` are relaxed in the scope of the system (PTX ISA, "Operation
/// types").
fn order(mods: &mut Modifiers) -> Order {
    mods.ignore(&[Word::Weak]);
    let mut any = |table: &[Word]| table.iter().filter(|word| mods.word(**word)).count() > 0;
    let (anywhere, relaxed) = (any(&[Word::Volatile, Word::Mmio]), any(&[Word::Relaxed]));
    let (acquires, releases) = (any(&[Word::Acquire]), any(&[Word::Release]));
    let named = scope(mods);
    let strong = anywhere || relaxed || acquires || releases;
    let scope = if anywhere { None } else { named };
    Order { scope: strong.then_some(scope.unwrap_or(MemoryScope::Sys)), releases, acquires }
}

/// What the modifiers of `ld` and `st` say.
struct Vector {
    order: Order,
    space: Option<Place>,
    count: usize,
    ty: Type,
    /// Of one element.
    bytes: u32,
}

impl Vector {
    fn of(mods: &mut Modifiers) -> Decoded<Vector> {
        let order = order(mods);
        let space = mods.space()?;
        mods.ignore(CACHE);
        let (count, ty) = (vector(mods), mods.ty()?);
        Ok(Vector { order, space, count, ty, bytes: bytes_of(ty)? })
    }
}

/// `ld`, `ldu`.
pub(super) fn ld(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let constant = mods.word(Word::Nc);
    let Vector { order, space, count, ty, bytes } = Vector::of(mods)?;
    let [d, a, ..] = ops else { return Err("two operands are needed".to_owned()) };
    let signed = matches!(ty, Type::S8 | Type::S16 | Type::S32 | Type::S64);
    let mut extend = Extend::Zero;
    let mut targets = Vec::new();
    for element in elements(d, count)? {
        if let Operand::Reg(reg) = element {
            let width = register_bits(cx.function, *reg);
            if width < bytes * 8 {
                return Err(format!("{} bits into a register of {width}", bytes * 8));
            }
            if signed {
                extend = Extend::Sign(width);
            }
        }
        targets.push(cx.target(element)?);
    }
    let address = cx.address(a, space)?;
    Ok(Op::Load(Box::new(Load {
        address,
        bytes,
        extend,
        targets: targets.into(),
        order,
        constant,
    })))
}

fn bytes_of(ty: Type) -> Decoded<u32> {
    let bits = ty.bits();
    if bits >= 8 && bits.is_power_of_two() {
        Ok(bits / 8)
    } else {
        Err(format!("an access of type `.{}`", ty.text()))
    }
}

/// `st`.
pub(super) fn st(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    if mods.word(Word::Async) {
        return super::bulk::st_async(cx, mods, ops);
    }
    if mods.word(Word::Bulk) {
        return zeros(cx, mods, ops);
    }
    let Vector { order, space, count, ty, bytes } = Vector::of(mods)?;
    let [a, b, ..] = ops else { return Err("two operands are needed".to_owned()) };
    let mut sources = Vec::new();
    for element in elements(b, count)? {
        sources.push(cx.wide_source(element, ty.bits())?);
    }
    let address = cx.address(a, space)?;
    Ok(Op::Store(Box::new(Store { address, bytes, sources: sources.into(), order })))
}

/// `st.bulk`.
fn zeros(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    mods.ignore(&[Word::Weak]);
    let own = mods.word(Word::SharedCta);
    let [a, bytes, value] = count(ops)?;
    if *value != Operand::Int(0) {
        return Err("`st.bulk` writes zeros only".to_owned());
    }
    let address = cx.address(a, own.then_some(Place::Shared))?;
    Ok(Op::Zeros(Box::new(Zeros { address, bytes: cx.wide_source(bytes, 64)? })))
}

/// An operation of `atom` and `red`.
#[derive(Clone, Copy)]
pub(super) enum Verb {
    Int(IntOp),
    Cas,
}

/// `atom`, `red`.
pub(super) fn atom(
    cx: &mut Scope<'_>,
    mods: &mut Modifiers,
    ops: &[Operand],
    opcode: Opcode,
) -> Decoded<Op> {
    let result = opcode == Opcode::Atom;
    if mods.word(Word::Async) {
        return super::bulk::red_async(cx, mods, ops);
    }
    // `.relaxed` is the default.
    mods.ignore(&[Word::Relaxed, Word::Noftz]);
    let order = mods.one_of(&[
        (Word::Acquire, (false, true)),
        (Word::Release, (true, false)),
        (Word::AcqRel, (true, true)),
    ]);
    let (releases, acquires) = order.unwrap_or_default();
    // `.gpu` is the default too.
    let scope = Some(scope(mods).unwrap_or(MemoryScope::Gpu));
    let order = Order { scope, releases, acquires };
    let space = mods.space()?;
    let verb = mods
        .one_of(&[
            (Word::Add, Verb::Int(IntOp::Add)),
            (Word::Min, Verb::Int(IntOp::Min)),
            (Word::Max, Verb::Int(IntOp::Max)),
            (Word::Inc, Verb::Int(IntOp::Inc)),
            (Word::Dec, Verb::Int(IntOp::Dec)),
            (Word::And, Verb::Int(IntOp::And)),
            (Word::Or, Verb::Int(IntOp::Or)),
            (Word::Xor, Verb::Int(IntOp::Xor)),
            (Word::Exch, Verb::Int(IntOp::Exchange)),
            (Word::Cas, Verb::Cas),
        ])
        .ok_or("an operation is missing")?;
    mods.ignore(CACHE);
    let count = vector(mods);
    let ty = mods.ty()?;
    let op = operation(verb, ty)?;
    let bits = op.bytes() * 8;
    let (d, rest) = match (result, ops) {
        (true, [d, rest @ ..]) => (Some(d), rest),
        (true, []) => return Err("operands are missing".to_owned()),
        (false, rest) => (None, rest),
    };
    let [a, b, rest @ ..] = rest else { return Err("operands are missing".to_owned()) };
    let address = cx.address(a, space)?;
    let c = match (verb, rest) {
        (Verb::Cas, [c, ..]) => Some(cx.source(c, bits)?),
        (Verb::Cas, []) => return Err("`.cas` takes two values".to_owned()),
        (Verb::Int(_), _) => None,
    };
    let sources = elements(b, count)?;
    let mut parts = Vec::new();
    for (i, source) in sources.iter().enumerate() {
        let target = match d {
            None => None,
            Some(d) => match elements(d, count)? {
                [Operand::Sink] => None,
                list => cx.target(&list[i])?,
            },
        };
        parts.push((cx.source(source, bits)?, target));
    }
    let (b, d) = parts.remove(0);
    let more = parts.into();
    Ok(Op::Atom(Box::new(Atom { address, op, d, b, c, more, order })))
}

pub(super) fn operation(verb: Verb, ty: Type) -> Decoded<AtomOp> {
    if ty == Type::B128 {
        return match verb {
            Verb::Cas => Ok(AtomOp::Cas128),
            Verb::Int(IntOp::Exchange) => Ok(AtomOp::Exchange128),
            Verb::Int(_) => Err("128 bits can be exchanged only".to_owned()),
        };
    }
    let float = match verb {
        Verb::Int(IntOp::Add) => Some(FloatOp::Add),
        Verb::Int(IntOp::Min) => Some(FloatOp::Min),
        Verb::Int(IntOp::Max) => Some(FloatOp::Max),
        Verb::Int(_) | Verb::Cas => None,
    };
    match (arithmetic(ty)?, verb, float) {
        (Arithmetic::Int(Int::U8 | Int::S8), ..) => Err("8 bits".to_owned()),
        (Arithmetic::Int(int), Verb::Cas, _) => Ok(AtomOp::Cas(int)),
        (Arithmetic::Int(int), Verb::Int(op), _) => Ok(AtomOp::Int(op, int)),
        (Arithmetic::F32, Verb::Int(IntOp::Exchange), _) => {
            Ok(AtomOp::Int(IntOp::Exchange, Int::U32))
        }
        (Arithmetic::F32, _, Some(op)) => Ok(AtomOp::F32(op)),
        (Arithmetic::F64, _, Some(op)) => Ok(AtomOp::F64(op)),
        (Arithmetic::Half(half), _, Some(op)) => Ok(AtomOp::Half(op, half)),
        (Arithmetic::HalfPair(half), _, Some(op)) => Ok(AtomOp::Half2(op, half)),
        _ => Err(format!("the operation is not for `.{}`", ty.text())),
    }
}

/// `prefetch`, `prefetchu`, `discard`, `applypriority`: hints to caches.
pub(super) fn hint(mods: &mut Modifiers) -> Op {
    mods.ignore(CACHE);
    mods.ignore(&[Word::TensormapWord]);
    // The space is of no consequence either.
    let _ = mods.space();
    Op::Hint
}

/// `createpolicy`: a policy is a number that nothing reads.
pub(super) fn createpolicy(
    cx: &mut Scope<'_>,
    mods: &mut Modifiers,
    ops: &[Operand],
) -> Decoded<Op> {
    mods.ignore(&[Word::Fractional, Word::RangeWord, Word::CvtWord]);
    mods.ignore(CACHE);
    let _ = mods.space()?;
    mods.ty()?;
    let d = ops.first().ok_or("a result is missing")?;
    let a = cx.preset_d(Preset::Double(0));
    Ok(Op::MovD { d: cx.dest_d(d)?, a })
}

/// The place of an instruction that works on shared memory only.
pub(super) fn shared(mods: &mut Modifiers) -> Decoded<Option<Place>> {
    match mods.space()? {
        Some(Place::Shared) => Ok(Some(Place::Shared)),
        None => Ok(None),
        Some(_) => Err("only shared memory is possible".to_owned()),
    }
}
