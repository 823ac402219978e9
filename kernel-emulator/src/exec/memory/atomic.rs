//! `atom` and `red` (PTX ISA, "atom", "red").
//!
//! Lanes of a warp act one after another, in order. On global memory each acts with a compare and
//! swap of the word that holds it, so that blocks on other host threads see it as one step.

use std::sync::PoisonError;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use super::hazards::{self, Accessed};
use super::order::{self, Places};
use super::place;
use super::{Access, addresses, banks, resolve};
use crate::code::{Atom, AtomOp, Doubles, LANES, Order, Place, Slot};
use crate::fault::{FaultKind, Run, Trap, Unwritten};
use crate::machine::warp::{lane_number, lanes};
use crate::machine::{Context, Warp};
use crate::memory::access::WordMemory;
use crate::memory::{Allocation, byte_mask, spread};
use crate::numeric::atomic::{self, IntOp};
use crate::trace::Through;

/// What an addition in f32 does with subnormal numbers.
///
/// `atom` and `red` flush them on global memory and keep them on shared memory ("atom"). Asynchronous reductions keep them on
/// both, which was seen on an H200.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subnormals {
    Flushed,
    Kept,
}

/// The new value of a word, and whether it depends on the old one.
pub(crate) fn apply(op: AtomOp, subnormals: Subnormals, old: u64, b: u64, c: u64) -> u64 {
    #[expect(clippy::cast_possible_truncation, reason = "operands live in the low bits")]
    let (old32, b32) = (old as u32, b as u32);
    #[expect(clippy::cast_possible_truncation, reason = "operands live in the low bits")]
    let (old16, b16) = (old as u16, b as u16);
    match op {
        AtomOp::Int(op, ty) => atomic::integer(op, ty, old, b),
        AtomOp::Cas(ty) => atomic::compare_and_swap(ty, old, b, c),
        AtomOp::F32(op) => atomic::f32(op, old32, b32, subnormals == Subnormals::Flushed).into(),
        AtomOp::F64(op) => atomic::f64(op, old, b),
        AtomOp::Half(op, half) => atomic::half(op, half, old16, b16).into(),
        AtomOp::Half2(op, half) => atomic::half2(op, half, old32, b32).into(),
        AtomOp::Exchange128 | AtomOp::Cas128 => unreachable!("128 bits go their own way"),
    }
}

/// Whether the old value matters.
const fn reads(op: AtomOp) -> bool {
    !matches!(op, AtomOp::Int(IntOp::Exchange, _) | AtomOp::Exchange128)
}

/// `atom`, `red`.
pub(crate) fn atom(cx: &mut Context<'_>, warp: &mut Warp, op: &Atom, mask: u32) -> Run<()> {
    let base = addresses(warp, &op.address, mask)?;
    let element = u64::from(op.op.bytes());
    let count = op.more.len() as u64 + 1;
    let parts = std::iter::once((op.b, op.d)).chain(op.more.iter().copied());
    for (i, (b, d)) in (0u64..).zip(parts) {
        for slot in std::iter::once(b).chain(op.c) {
            let undefined = mask & !warp.regs.defined(slot);
            if undefined != 0 {
                let use_ = "is the operand of an atomic operation";
                return Err(crate::exec::uninitialised(warp, slot, undefined, use_));
            }
        }
        if i == 0 && count > 1 {
            aligned(&base, element * count, mask)?;
        }
        let at = base.map(|address| address.wrapping_add(i * element));
        let mut rest = mask;
        while rest != 0 {
            let (place, same, local) = if op.address.place == Place::Generic {
                resolve(&at, rest)
            } else {
                (op.address.place, rest, at)
            };
            let done = on(cx, warp, op, (b, d), (place, &local), same)?;
            rest &= !done;
        }
    }
    Ok(())
}

/// A vector must be aligned as a whole.
fn aligned(addresses: &Doubles, bytes: u64, mask: u32) -> Run<()> {
    match lanes(mask).find(|&lane| !addresses[lane].is_multiple_of(bytes)) {
        None => Ok(()),
        Some(lane) => {
            let address = addresses[lane];
            let detail = format!(
                "an atomic operation on {bytes} bytes at {address:#x}, which is not a multiple of {bytes}"
            );
            Err(Trap::new(FaultKind::Misaligned, detail).lane(lane_number(lane)).address(address))
        }
    }
}

/// Acts on one space. Returns the lanes that are done.
fn on(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    op: &Atom,
    (b, d): (Slot, Option<Slot>),
    (place, addresses): (Place, &Doubles),
    mask: u32,
) -> Run<u32> {
    let bytes = op.op.bytes();
    let places = Places { place, addresses, bytes, mask };
    let done = if bytes == 16 {
        wide(cx, warp, op, (b, d), (place, addresses), mask)?
    } else {
        narrow(cx, warp, op, (b, d), (place, addresses), mask)?
    };
    order::see(cx, warp, Places { mask: done, ..places }, op.order);
    Ok(done)
}

/// Up to 64 bits.
fn narrow(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    op: &Atom,
    (b, d): (Slot, Option<Slot>),
    (place, addresses): (Place, &Doubles),
    mask: u32,
) -> Run<u32> {
    let bytes = op.op.bytes();
    let (values, others) = (warp.regs.wide(b), op.c.map(|c| warp.regs.wide(c)));
    let operand = |lane: usize| (values[lane], others.map_or(0, |c| c[lane]));
    let mut old = [0; LANES];
    let mut unwritten = 0;
    let done = match place {
        Place::Global | Place::Generic => {
            let (memory, offsets, done) = place::allocation(
                cx.launch,
                &mut warp.guess,
                addresses,
                bytes,
                mask,
                Access::Atomic,
            )?;
            race(cx, warp, memory, (op.order, bytes), (&offsets, addresses, done))?;
            place::global_passes(cx, (addresses, bytes, done), Through::Write);
            order::leave(
                cx,
                warp,
                Places { place, addresses, bytes, mask: done },
                (op.order, true),
            );
            for lane in lanes(done) {
                let (b, c) = operand(lane);
                let written;
                (old[lane], written) =
                    global(memory, offsets[lane], (op.op, Subnormals::Flushed), (b, c));
                unwritten |= u32::from(!written) << lane;
            }
            done
        }
        Place::Shared => {
            let (owner, offsets, done) = place::shared(cx, addresses, bytes, mask, Access::Atomic)?;
            if let Some(trace) = &mut cx.cluster.trace {
                // Lanes act one after another on a word.
                trace.shared(owner, (bytes, done), banks::conflicts(&offsets, bytes, done));
            }
            let access = Access::Atomic;
            let accessed = Accessed { offsets: &offsets, addresses, bytes, mask: done, access };
            hazards::in_flight(cx, owner, &accessed)?;
            hazards::race(cx, warp, owner, &accessed)?;
            order::leave(
                cx,
                warp,
                Places { place, addresses, bytes, mask: done },
                (op.order, true),
            );
            let block = &mut cx.cluster.blocks[owner];
            for lane in lanes(done) {
                let (index, at) = split(offsets[lane]);
                let (b, c) = operand(lane);
                let (word, written) = block.shared.word(index);
                let bits = byte_mask(at, bytes as usize);
                let keep = u64::MAX >> (64 - 8 * bytes);
                old[lane] = word >> (8 * at) & keep;
                unwritten |= u32::from(written & bits != bits) << lane;
                let new = apply(op.op, Subnormals::Kept, old[lane], b, c) & keep;
                block.shared.put(index, new << (8 * at), bits);
            }
            hazards::wrote(cx, warp, owner, &offsets, bytes, done);
            done
        }
        Place::Const | Place::Param | Place::Local => {
            let lane = mask.trailing_zeros();
            let detail = "an atomic operation outside global and shared memory";
            return Err(Trap::new(FaultKind::WrongSpace, detail)
                .lane(lane)
                .address(addresses[lane as usize]));
        }
    };
    // One that leaves everything as it is, such as a failing `.cas`, only looks.
    let changes = |lane: usize| {
        let (b, c) = operand(lane);
        let keep = u64::MAX >> (64 - 8 * bytes);
        apply(op.op, Subnormals::Kept, old[lane], b, c) & keep != old[lane]
    };
    if unwritten != 0 || lanes(done).any(changes) {
        cx.changing().block().events += 1;
    }
    finish(warp, op.op, d, (place, addresses), (&old, done, unwritten))?;
    Ok(done)
}

/// Checks lanes on global memory; see [`super::global::race`].
fn race(
    cx: &mut Context<'_>,
    warp: &Warp,
    memory: &Allocation,
    (order, bytes): (Order, u32),
    (offsets, addresses, mask): (&Doubles, &Doubles, u32),
) -> Run<()> {
    let accessed = Accessed { offsets, addresses, bytes, mask, access: Access::Atomic };
    let accessed = (&accessed, order.scope);
    super::global::race(cx, warp, (warp.guess, memory), accessed, || false)
}

/// The result, or the fault of an operation on bytes that were never written.
fn finish(
    warp: &mut Warp,
    op: AtomOp,
    d: Option<Slot>,
    (place, addresses): (Place, &Doubles),
    (old, done, unwritten): (&Doubles, u32, u32),
) -> Run<()> {
    if unwritten != 0 {
        let lane = unwritten.trailing_zeros();
        let address = addresses[lane as usize];
        if reads(op) {
            let detail = format!(
                "an atomic operation on {} bytes at {address:#x} that were never written",
                op.bytes()
            );
            return Err(Trap::new(FaultKind::Uninitialised, detail).lane(lane).address(address));
        }
        warp.unwritten = Some(Unwritten { pc: warp.pc, lane, address, place });
    }
    if let Some(d) = d {
        warp.regs.set_wide(d, old, done, done & !unwritten);
    }
    Ok(())
}

#[expect(clippy::cast_possible_truncation, reason = "checked offsets fit the host's memory")]
fn split(offset: u64) -> (usize, usize) {
    (offset as usize / 8, offset as usize % 8)
}

/// One lane on global memory: the old value, and whether it was ever written.
pub(crate) fn global(
    memory: &Allocation,
    offset: u64,
    (op, subnormals): (AtomOp, Subnormals),
    (b, c): (u64, u64),
) -> (u64, bool) {
    let (index, at) = split(offset);
    let bytes = op.bytes();
    let bits = byte_mask(at, bytes as usize);
    let keep = u64::MAX >> (64 - 8 * bytes);
    let word = &memory.words[index];
    let mut seen = word.load(SeqCst);
    let old = loop {
        let old = seen >> (8 * at) & keep;
        let new = (apply(op, subnormals, old, b, c) & keep) << (8 * at);
        let merged = seen & !spread(bits) | new;
        match word.compare_exchange_weak(seen, merged, SeqCst, SeqCst) {
            Ok(_) => break old,
            Err(now) => seen = now,
        }
    };
    let written = memory.written[index].load(Relaxed) & bits == bits;
    if !written {
        memory.written[index].fetch_or(bits, Relaxed);
    }
    (old, written)
}

/// 128 bits: one lock for the launch, since the host has no such instruction everywhere.
fn wide(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    op: &Atom,
    (b, d): (Slot, Option<Slot>),
    (place, addresses): (Place, &Doubles),
    mask: u32,
) -> Run<u32> {
    let quad = |warp: &Warp, slot: Slot| match slot {
        Slot::Q(slot) => *warp.regs.q(slot),
        Slot::W(_) | Slot::D(_) | Slot::P(_) => unreachable!("decode asks for 128-bit registers"),
    };
    let values = quad(warp, b);
    let others = op.c.map(|c| quad(warp, c));
    let mut old = [0u128; LANES];
    let mut unwritten = 0;
    let new_value = |old: u128, lane: usize| match others {
        None => values[lane],
        Some(swap) => {
            if old == values[lane] {
                swap[lane]
            } else {
                old
            }
        }
    };
    let mut changes = false;
    let mut step = |memory: &mut dyn WordMemory, offsets: &Doubles, done: u32| {
        for lane in lanes(done) {
            let (index, _) = split(offsets[lane]);
            let ((low, a), (high, b)) = (memory.word(index), memory.word(index + 1));
            unwritten |= u32::from(a & b != 0xFF) << lane;
            old[lane] = u128::from(high) << 64 | u128::from(low);
            let new = new_value(old[lane], lane);
            changes |= new != old[lane] || a & b != 0xFF;
            #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
            {
                memory.put(index, new as u64, 0xFF);
                memory.put(index + 1, (new >> 64) as u64, 0xFF);
            }
        }
    };
    let done = match place {
        Place::Global | Place::Generic => {
            let (mut memory, offsets, done) =
                place::allocation(cx.launch, &mut warp.guess, addresses, 16, mask, Access::Atomic)?;
            race(cx, warp, memory, (op.order, 16), (&offsets, addresses, done))?;
            place::global_passes(cx, (addresses, 16, done), Through::Write);
            let places = Places { place, addresses, bytes: 16, mask: done };
            order::leave(cx, warp, places, (op.order, true));
            let lock = cx.launch.wide_atomics.lock().unwrap_or_else(PoisonError::into_inner);
            step(&mut memory, &offsets, done);
            drop(lock);
            done
        }
        Place::Shared => {
            let (block, offsets, done) = place::shared(cx, addresses, 16, mask, Access::Atomic)?;
            let access = Access::Atomic;
            let accessed = Accessed { offsets: &offsets, addresses, bytes: 16, mask: done, access };
            hazards::in_flight(cx, block, &accessed)?;
            hazards::race(cx, warp, block, &accessed)?;
            let places = Places { place, addresses, bytes: 16, mask: done };
            order::leave(cx, warp, places, (op.order, true));
            step(&mut cx.cluster.blocks[block].shared, &offsets, done);
            hazards::wrote(cx, warp, block, &offsets, 16, done);
            done
        }
        Place::Const | Place::Param | Place::Local => {
            let lane = mask.trailing_zeros();
            let detail = "an atomic operation outside global and shared memory";
            return Err(Trap::new(FaultKind::WrongSpace, detail).lane(lane));
        }
    };
    if changes {
        cx.changing();
    }
    finish(warp, op.op, None, (place, addresses), (&[0; LANES], done, unwritten))?;
    if let Some(Slot::Q(d)) = d {
        warp.regs.set_q(d, &old, done, done & !unwritten);
    }
    Ok(done)
}
