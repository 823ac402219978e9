//! Barriers and fences.

use kernel_ptx::{Opcode, Operand, Type, Word};

use super::count;
use super::memory::{scope, shared};
use super::operands::{Decoded, Modifiers, Scope};
use crate::code::{
    Address, Bar, BarKind, Base, Fence, Mbarrier, MbarrierKind, MemoryScope, Op, Order, Place,
    Slot, W,
};

/// `bar`, `barrier`.
pub(super) fn bar(
    cx: &mut Scope<'_>,
    mods: &mut Modifiers,
    ops: &[Operand],
    opcode: Opcode,
) -> Decoded<Op> {
    if mods.word(Word::Warp) {
        mods.ignore(&[Word::Sync]);
        let [mask] = count(ops)?;
        return Ok(Op::WarpSync { members: cx.w(mask)? });
    }
    // `bar` is `barrier.cta.aligned`.
    let aligned = mods.word(Word::Aligned) || opcode == Opcode::Bar;
    if mods.word(Word::Cluster) {
        let relaxed = mods.word(Word::Relaxed);
        mods.ignore(&[Word::Release, Word::Acquire]);
        if mods.word(Word::Arrive) {
            return Ok(Op::ClusterArrive { aligned, relaxed });
        }
        if mods.word(Word::Wait) {
            return Ok(Op::ClusterWait { aligned });
        }
        return Err("`.arrive` or `.wait` is missing".to_owned());
    }
    mods.ignore(&[Word::Cta]);
    let bar = |kind, id, threads| Op::Bar(Box::new(Bar { kind, aligned, id, threads }));
    if let Some(kind) = mods.one_of(&[(Word::Sync, BarKind::Sync), (Word::Arrive, BarKind::Arrive)])
    {
        let (id, threads) = match ops {
            [id] => (cx.w(id)?, None),
            [id, threads] => (cx.w(id)?, Some(cx.w(threads)?)),
            _ => return Err(format!("{} operands where 1 or 2 are needed", ops.len())),
        };
        return Ok(bar(kind, id, threads));
    }
    if !mods.word(Word::Red) {
        return Err("`.sync`, `.arrive` or `.red` is missing".to_owned());
    }
    let (popc, and, or) = (mods.word(Word::Popc), mods.word(Word::And), mods.word(Word::Or));
    mods.ty()?;
    let (d, id, threads, a) = match ops {
        [d, id, a] => (d, id, None, a),
        [d, id, threads, a] => (d, id, Some(cx.w(threads)?), a),
        _ => return Err(format!("{} operands where 3 or 4 are needed", ops.len())),
    };
    let (id, a) = (cx.w(id)?, cx.pred(a)?);
    let kind = match (popc, and, or) {
        (true, false, false) => BarKind::RedPopc { d: cx.dest_w(d)?, a },
        (false, true, false) => BarKind::RedAnd { d: cx.dest_p(d)?, a },
        (false, false, true) => BarKind::RedOr { d: cx.dest_p(d)?, a },
        _ => return Err("one of `.popc`, `.and`, `.or` is needed".to_owned()),
    };
    Ok(bar(kind, id, threads))
}

/// `membar`, `fence`: memory is coherent here, and blocks of one cluster share a host thread.
pub(super) fn fence(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let proxy = mods.word(Word::Proxy);
    let asynchronous = mods.word(Word::Async) || mods.word(Word::AsyncGeneric);
    let maps = mods.word(Word::TensormapGeneric);
    // `membar.gl` is the older name.
    let gl = mods.word(Word::Gl).then_some(MemoryScope::Gpu);
    let scope = scope(mods).or(gl).unwrap_or(MemoryScope::Sys);
    let (acquires, releases) = (mods.word(Word::Acquire), mods.word(Word::Release));
    mods.ignore(&[
        Word::Sc,
        Word::AcqRel,
        Word::Alias,
        Word::SyncRestrictSharedCta,
        Word::SyncRestrictSharedCluster,
    ]);
    let init = mods.word(Word::MbarrierInit);
    let space = mods.space()?;
    if maps {
        return Ok(Op::Fence(match ops {
            [map, ..] => Fence::MapAcquire { map: cx.address(map, None)?, scope },
            [] => Fence::MapRelease { scope },
        }));
    }
    if asynchronous {
        let (shared, global) = (space != Some(Place::Global), space != Some(Place::Shared));
        return Ok(Op::Fence(Fence::AsyncProxy { shared, global }));
    }
    Ok(Op::Fence(match (init, proxy) {
        (true, _) => Fence::Init,
        (_, true) => Fence::Proxy,
        // Without either it does both.
        (false, false) => Fence::Threads {
            scope,
            releases: releases || !acquires,
            acquires: acquires || !releases,
        },
    }))
}

/// `mbarrier`.
pub(super) fn mbarrier(cx: &mut Scope<'_>, mods: &mut Modifiers, ops: &[Operand]) -> Decoded<Op> {
    let parity = mods.word(Word::Parity);
    let no_complete = mods.word(Word::NoComplete);
    let arrive = mods.one_of(&[(Word::Arrive, false), (Word::ArriveDrop, true)]);
    let expect = mods.word(Word::ExpectTx);
    let wait = mods.one_of(&[(Word::TestWait, false), (Word::TryWait, true)]);
    // An arrival releases, and a wait acquires, where they do not say `.relaxed`. Without a scope the manual takes `.cta`; but
    // compilers leave it out at mbarriers of other blocks too, and kernels that are proven on the hardware rely on that.
    let relaxed = mods.word(Word::Relaxed);
    mods.ignore(&[Word::Acquire, Word::Release]);
    let scope = Some(scope(mods).unwrap_or(MemoryScope::Cluster));
    if mods.word(Word::PendingCount) {
        mods.ty()?;
        let [d, state] = count(ops)?;
        let state = cx.d(state)?;
        let kind = MbarrierKind::PendingCount { d: cx.dest_w(d)?, state };
        let address = Address { place: Place::Shared, base: Base::None, offset: 0 };
        return Ok(Op::Mbarrier(Box::new(Mbarrier { address, kind })));
    }
    let (init, inval, complete) =
        (mods.word(Word::Init), mods.word(Word::Inval), mods.word(Word::CompleteTx));
    let place = shared(mods)?;
    if mods.ty()? != Type::B64 {
        return Err("an mbarrier is `.b64`".to_owned());
    }
    if let Some(drop) = arrive {
        let [d, a, rest @ ..] = ops else { return Err("operands are missing".to_owned()) };
        let state = match cx.target(d)? {
            None => None,
            Some(Slot::D(slot)) => Some(slot),
            Some(_) => return Err("the state of an mbarrier has 64 bits".to_owned()),
        };
        let mut values: Vec<W> = Vec::new();
        for operand in rest {
            values.push(cx.w(operand)?);
        }
        let (count, expect) = match (expect, values.as_slice()) {
            (true, [bytes]) => (None, Some(*bytes)),
            (false, []) => (None, None),
            (false, [count]) => (Some(*count), None),
            _ => return Err("the wrong number of operands".to_owned()),
        };
        let address = cx.address(a, place)?;
        let order = Order { scope, releases: !relaxed, acquires: false };
        let kind = MbarrierKind::Arrive { state, count, expect, drop, no_complete, order };
        return Ok(Op::Mbarrier(Box::new(Mbarrier { address, kind })));
    }
    if let Some(blocking) = wait {
        let [d, a, phase, ..] = ops else { return Err("operands are missing".to_owned()) };
        let phase = if parity { Slot::W(cx.w(phase)?) } else { Slot::D(cx.d(phase)?) };
        let address = cx.address(a, place)?;
        let order = Order { scope, releases: false, acquires: !relaxed };
        let kind = MbarrierKind::Wait { d: cx.dest_p(d)?, phase, parity, blocking, order };
        return Ok(Op::Mbarrier(Box::new(Mbarrier { address, kind })));
    }
    let [a, rest @ ..] = ops else { return Err("operands are missing".to_owned()) };
    let mut values: Vec<W> = Vec::new();
    for operand in rest {
        values.push(cx.w(operand)?);
    }
    let address = cx.address(a, place)?;
    let kind = match (init, inval, expect, complete, values.as_slice()) {
        (true, false, false, false, [count]) => MbarrierKind::Init { count: *count },
        (false, true, false, false, []) => MbarrierKind::Inval,
        (false, false, true, false, [bytes]) => MbarrierKind::ExpectTx { bytes: *bytes },
        (false, false, false, true, [bytes]) => MbarrierKind::CompleteTx { bytes: *bytes },
        _ => return Err("the form is not modelled".to_owned()),
    };
    Ok(Op::Mbarrier(Box::new(Mbarrier { address, kind })))
}
