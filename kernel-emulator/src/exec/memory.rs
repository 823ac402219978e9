//! `ld`, `st`, `isspacep`, `mapa` (PTX ISA, "Data Movement and Conversion Instructions").

pub(crate) mod atomic;
pub(crate) mod banks;
pub(crate) mod global;
pub(crate) mod hazards;
pub(crate) mod order;
pub(crate) mod place;

use std::sync::atomic::{Ordering, fence};

use crate::code::{
    Address, Base, D, Doubles, Extend, LANES, Load, Order, P, Place, Slot, Store, W, Zeros,
};
use crate::fault::{FaultKind, Run, Trap, Unwritten};
use crate::machine::warp::base_slot;
use crate::machine::{Context, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_SHIFT, Warp};
use crate::memory::race::Touch;
use crate::memory::shared::RANK_SHIFT;

/// What is done with a place, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Load,
    /// A load that the lanes of a warp execute together.
    MatrixLoad,
    /// A strong load.
    LoadStrong,
    Store,
    /// A strong store.
    StoreStrong,
    Atomic,
}

impl Access {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Access::Load | Access::MatrixLoad | Access::LoadStrong => "a load",
            Access::Store | Access::StoreStrong => "a store",
            Access::Atomic => "an atomic operation",
        }
    }

    /// A load of an order.
    pub(crate) const fn load(order: Order) -> Access {
        if order.is_strong() { Access::LoadStrong } else { Access::Load }
    }

    /// A store of an order.
    pub(crate) const fn store(order: Order) -> Access {
        if order.is_strong() { Access::StoreStrong } else { Access::Store }
    }

    /// Whether it changes memory.
    pub(crate) const fn writes(self) -> bool {
        match self {
            Access::Store | Access::StoreStrong | Access::Atomic => true,
            Access::Load | Access::MatrixLoad | Access::LoadStrong => false,
        }
    }

    /// The same, for the race detector.
    pub(crate) const fn touch(self) -> Touch {
        match self {
            Access::Load => Touch::Read,
            Access::MatrixLoad => Touch::ReadTogether,
            Access::LoadStrong => Touch::ReadStrong,
            Access::Store => Touch::Write,
            Access::StoreStrong | Access::Atomic => Touch::WriteStrong,
        }
    }
}

/// The addresses of an operand, in its space.
#[inline]
pub(crate) fn addresses(warp: &Warp, address: &Address, mask: u32) -> Run<Doubles> {
    let mut out = [0; LANES];
    let undefined = match address.base {
        Base::None => {
            out = [address.offset.cast_unsigned(); LANES];
            0
        }
        Base::D(slot) => {
            let base = warp.regs.d(slot);
            let offset = address.offset.cast_unsigned();
            for lane in 0..LANES {
                out[lane] = base[lane].wrapping_add(offset);
            }
            mask & !warp.regs.d_defined(slot)
        }
        Base::W(slot) => {
            let base = warp.regs.w(slot);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "32-bit addresses wrap"
            )]
            let offset = address.offset as u32;
            for lane in 0..LANES {
                out[lane] = u64::from(base[lane].wrapping_add(offset));
            }
            mask & !warp.regs.w_defined(slot)
        }
    };
    if undefined != 0 {
        let slot = base_slot(address.base).expect("an absolute address is always defined");
        return Err(super::uninitialised(warp, slot, undefined, "is an address"));
    }
    Ok(out)
}

/// The window of a generic address.
#[inline]
const fn window(address: u64) -> Place {
    match address >> WINDOW_SHIFT << WINDOW_SHIFT {
        SHARED_WINDOW => Place::Shared,
        LOCAL_WINDOW => Place::Local,
        PARAM_WINDOW => Place::Param,
        _ => Place::Global,
    }
}

/// Splits generic addresses by window: the space of the first lane, its lanes, addresses in the space.
pub(crate) fn resolve(addresses: &Doubles, mask: u32) -> (Place, u32, Doubles) {
    let place = window(addresses[mask.trailing_zeros() as usize % LANES]);
    let mut same = 0;
    for (lane, &address) in addresses.iter().enumerate() {
        same |= u32::from(window(address) == place) << lane;
    }
    let local = match place {
        Place::Shared | Place::Local | Place::Param => {
            addresses.map(|address| address & ((1 << WINDOW_SHIFT) - 1))
        }
        Place::Global | Place::Const | Place::Generic => *addresses,
    };
    (place, same & mask, local)
}

/// `ld`.
pub(crate) fn load(cx: &mut Context<'_>, warp: &mut Warp, op: &Load, mask: u32) -> Run<()> {
    let count = u32::try_from(op.targets.len()).expect("a vector has at most 8 elements");
    let bytes = op.bytes * count;
    match bytes {
        ..=8 => load_words::<1>(cx, warp, op, bytes, mask)?,
        16 => load_words::<2>(cx, warp, op, bytes, mask)?,
        _ => load_words::<4>(cx, warp, op, bytes, mask)?,
    }
    if op.order.is_strong() {
        fence(Ordering::SeqCst);
    }
    Ok(())
}

fn load_words<const N: usize>(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    op: &Load,
    bytes: u32,
    mask: u32,
) -> Run<()> {
    let addresses = addresses(warp, &op.address, mask)?;
    if op.constant && cx.cluster.races.enabled() {
        global::constant(cx, warp, &addresses, bytes, mask)?;
    }
    let mut words = [[0; LANES]; N];
    let mut defined = 0;
    if op.address.place == Place::Generic {
        let mut rest = mask;
        while rest != 0 {
            let (place, lanes, local) = resolve(&addresses, rest);
            let at = place::At { place, order: op.order, addresses: &local, bytes };
            defined |= place::load(cx, warp, at, lanes, &mut words)?;
            rest &= !lanes;
        }
    } else {
        let (place, order) = (op.address.place, op.order);
        let at = place::At { place, order, addresses: &addresses, bytes };
        defined = place::load(cx, warp, at, mask, &mut words)?;
    }
    if defined != mask {
        let lane = (mask & !defined).trailing_zeros();
        let (mut place, address) = (op.address.place, addresses[lane as usize]);
        if place == Place::Generic {
            (place, ..) = resolve(&addresses, 1 << lane);
        }
        warp.unwritten = Some(Unwritten { pc: warp.pc, lane, address, place });
    }
    if op.bytes == 16 {
        for (pair, target) in words.chunks_exact(2).zip(&op.targets) {
            if let Some(Slot::Q(target)) = *target {
                let value = std::array::from_fn(|lane| {
                    u128::from(pair[1][lane]) << 64 | u128::from(pair[0][lane])
                });
                warp.regs.set_q(target, &value, mask, defined);
            }
        }
        return Ok(());
    }
    let bits = op.bytes * 8;
    for (i, target) in (0..).zip(&op.targets) {
        let Some(target) = *target else { continue };
        let at = i * bits;
        let word = &words[(at / 64) as usize];
        if bits == 64 {
            warp.regs.set_wide(target, word, mask, defined);
            continue;
        }
        let up = 64 - bits - at % 64;
        let mut value = [0; LANES];
        match op.extend {
            Extend::Zero => {
                for lane in 0..LANES {
                    value[lane] = word[lane] << up >> (64 - bits);
                }
            }
            Extend::Sign(to) => {
                let keep = u64::MAX >> (64 - to);
                for lane in 0..LANES {
                    let extended = (word[lane] << up).cast_signed() >> (64 - bits);
                    value[lane] = extended.cast_unsigned() & keep;
                }
            }
        }
        warp.regs.set_wide(target, &value, mask, defined);
    }
    Ok(())
}

/// `st`.
pub(crate) fn store(cx: &mut Context<'_>, warp: &mut Warp, op: &Store, mask: u32) -> Run<()> {
    if op.order.is_strong() {
        fence(Ordering::SeqCst);
    }
    let count = u32::try_from(op.sources.len()).expect("a vector has at most 8 elements");
    let bytes = op.bytes * count;
    match bytes {
        ..=8 => store_words::<1>(cx, warp, op, bytes, mask),
        16 => store_words::<2>(cx, warp, op, bytes, mask),
        _ => store_words::<4>(cx, warp, op, bytes, mask),
    }
}

fn store_words<const N: usize>(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    op: &Store,
    bytes: u32,
    mask: u32,
) -> Run<()> {
    let addresses = addresses(warp, &op.address, mask)?;
    let mut defined = u32::MAX;
    let mut words = [[0; LANES]; N];
    let bits = op.bytes * 8;
    for (i, source) in (0..).zip(&op.sources) {
        defined &= warp.regs.defined(*source);
        if let (16, Slot::Q(source)) = (op.bytes, *source) {
            let value = warp.regs.q(source);
            for lane in 0..LANES {
                #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
                {
                    words[2 * i as usize][lane] = value[lane] as u64;
                    words[2 * i as usize + 1][lane] = (value[lane] >> 64) as u64;
                }
            }
            continue;
        }
        let at = i * bits;
        let value = warp.regs.wide(*source);
        let keep = u64::MAX >> (64 - bits);
        let word = &mut words[(at / 64) as usize];
        for lane in 0..LANES {
            word[lane] |= (value[lane] & keep) << (at % 64);
        }
    }
    if op.address.place == Place::Generic {
        let mut rest = mask;
        while rest != 0 {
            let (place, lanes, local) = resolve(&addresses, rest);
            check_sources(warp, op, place, defined, lanes)?;
            let at = place::At { place, order: op.order, addresses: &local, bytes };
            place::store(cx, warp, at, (lanes, defined), &words)?;
            rest &= !lanes;
        }
        Ok(())
    } else {
        check_sources(warp, op, op.address.place, defined, mask)?;
        let (place, order) = (op.address.place, op.order);
        let at = place::At { place, order, addresses: &addresses, bytes };
        place::store(cx, warp, at, (mask, defined), &words)
    }
}

/// The most bytes that one `st.bulk` writes (PTX ISA, "st.bulk").
const MOST_ZEROS: u64 = 16_777_216;

/// `st.bulk`: zeros, as a weak store of each thread for itself.
pub(crate) fn zeros(cx: &mut Context<'_>, warp: &mut Warp, op: &Zeros, mask: u32) -> Run<()> {
    let addresses = addresses(warp, &op.address, mask)?;
    let undefined = mask & !warp.regs.defined(op.bytes);
    if undefined != 0 {
        return Err(super::uninitialised(warp, op.bytes, undefined, "is a number of bytes"));
    }
    let sizes = warp.regs.wide(op.bytes);
    for lane in crate::machine::warp::lanes(mask) {
        let (number, size) = (crate::machine::warp::lane_number(lane), sizes[lane]);
        if !size.is_multiple_of(8) || size > MOST_ZEROS {
            let detail =
                format!("{size} bytes, where `st.bulk` takes a multiple of 8 up to {MOST_ZEROS}");
            return Err(Trap::new(FaultKind::IllegalOperand, detail).lane(number));
        }
        let (place, local) = if op.address.place == Place::Generic {
            let (place, _, local) = resolve(&addresses, 1 << lane);
            (place, local)
        } else {
            (op.address.place, addresses)
        };
        if place != Place::Shared {
            let detail = "`st.bulk` writes shared memory only".to_owned();
            let trap = Trap::new(FaultKind::WrongSpace, detail);
            return Err(trap.lane(number).address(addresses[lane]));
        }
        // The manual asks for no alignment of the address.
        let bytes: u32 = if local[lane].is_multiple_of(8) { 8 } else { 1 };
        for first in (0..size).step_by(bytes as usize) {
            let addresses = local.map(|address| address.wrapping_add(first));
            let at = place::At { place, order: Order::WEAK, addresses: &addresses, bytes };
            place::store(cx, warp, at, (1 << lane, u32::MAX), &[[0; LANES]])?;
        }
    }
    Ok(())
}

/// A value that was never written may go to local and shared memory, whose bytes then count as never
/// written: compilers store the unused lanes of a reduction, and nothing reads them. In global memory
/// it would be a result.
#[inline]
fn check_sources(warp: &Warp, op: &Store, place: Place, defined: u32, mask: u32) -> Run<()> {
    let undefined = mask & !defined;
    if undefined == 0 || matches!(place, Place::Local | Place::Shared) {
        return Ok(());
    }
    let source = op.sources.iter().find(|s| warp.regs.defined(**s) & undefined != undefined);
    let source = source.expect("an undefined lane comes from a source");
    Err(super::uninitialised(
        warp,
        *source,
        undefined & !warp.regs.defined(*source),
        "is stored to global memory",
    ))
}

/// `isspacep`.
pub(crate) fn isspacep(cx: &Context<'_>, warp: &mut Warp, d: P, a: D, space: Place, mask: u32) {
    let mut bits = 0;
    for (lane, &address) in warp.regs.d(a).iter().enumerate() {
        let place = window(address);
        let is = match space {
            Place::Const => {
                place == Place::Global && cx.launch.code.constant(&cx.launch.variables, address)
            }
            Place::Global | Place::Local | Place::Shared | Place::Param => place == space,
            Place::Generic => true,
        };
        bits |= u32::from(is) << lane;
    }
    let defined = warp.regs.d_defined(a);
    warp.regs.set_p(d, bits, mask, defined);
}

/// `mapa`: the address of the same variable in another block of the cluster.
pub(crate) fn mapa(
    cx: &Context<'_>,
    warp: &mut Warp,
    d: Slot,
    (a, rank): (Slot, W),
    mask: u32,
) -> Run<()> {
    let (addresses, ranks) = (warp.regs.wide(a), *warp.regs.w(rank));
    let blocks = cx.launch.cluster_blocks();
    let mut out = [0; LANES];
    for lane in crate::machine::warp::lanes(mask) {
        if ranks[lane] >= blocks {
            return Err(Trap::new(
                FaultKind::IllegalOperand,
                format!("block rank {} in a cluster of {blocks}", ranks[lane]),
            )
            .lane(crate::machine::warp::lane_number(lane)));
        }
        let rank_bits = 0xFFu64 << RANK_SHIFT;
        out[lane] = addresses[lane] & !rank_bits | u64::from(ranks[lane]) << RANK_SHIFT;
    }
    let defined = warp.regs.defined(a) & warp.regs.w_defined(rank);
    warp.regs.set_wide(d, &out, mask, defined);
    Ok(())
}

/// `getctarank`: the block of the cluster that an address belongs to.
pub(crate) fn cta_rank(warp: &mut Warp, d: W, a: Slot, mask: u32) {
    let value = warp.regs.wide(a).map(|address| address >> RANK_SHIFT & 0xFF);
    let defined = warp.regs.defined(a);
    warp.regs.set_wide(Slot::W(d), &value, mask, defined);
}
