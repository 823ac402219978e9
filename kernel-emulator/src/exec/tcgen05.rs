//! `tcgen05`: tensor memory and the tensor cores of the fifth generation (PTX ISA, "`TensorCore` 5th Generation
//! Family Instructions").
//!
//! Loads, stores, copies and products are computed when they are issued, in that order, but count as in flight until
//! the program has waited for them: for loads and stores until the warp's `tcgen05.wait`, for the rest until a thread
//! waits for the mbarrier of a later `tcgen05.commit` of the same thread ([`flight`]). Touching what is in flight is a
//! fault, unless the manual orders the two ([`order`]): a product after another into the same D of the same shape and
//! kind, or after a copy.
//!
//! `tcgen05.fence` is asked for on request only ([`Options`](crate::Options)): compilers that are proven on the hardware leave it
//! out where a barrier is between.
//! Which blocks share a multiprocessor is not modelled: each has all 512 columns.

mod access;
mod allocate;
mod copy;
pub(crate) mod flight;
mod instruction;
mod mma;
mod operand;
mod order;

use crate::code::tcgen05::{Group, Tcgen05};
use crate::code::{Address, Slot, W};
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::warp::{lane_number, lanes};
use crate::machine::{Context, Flow, Warp};
use crate::memory::tensor::COLUMNS;

pub(crate) use allocate::leave;

/// Executes one.
pub(crate) fn step(cx: &mut Context<'_>, warp: &mut Warp, op: &Tcgen05, mask: u32) -> Run<Flow> {
    match op {
        Tcgen05::Alloc { group, to, columns } => {
            whole(mask, "tcgen05.alloc")?;
            return allocate::alloc(cx, warp, (*group, to, *columns));
        }
        Tcgen05::Dealloc { group, address, columns } => {
            whole(mask, "tcgen05.dealloc")?;
            return allocate::dealloc(cx, warp, (*group, *address, *columns));
        }
        Tcgen05::Relinquish { group } => {
            whole(mask, "tcgen05.relinquish_alloc_permit")?;
            return allocate::relinquish(cx, warp, *group);
        }
        Tcgen05::Load(access) => {
            whole(mask, "tcgen05.ld")?;
            access::load(cx, warp, access)?;
        }
        Tcgen05::Store(access) => {
            whole(mask, "tcgen05.st")?;
            access::store(cx, warp, access)?;
        }
        Tcgen05::WaitLoads => {
            whole(mask, "tcgen05.wait::ld")?;
            access::wait_loads(cx, warp);
        }
        Tcgen05::WaitStores => {
            whole(mask, "tcgen05.wait::st")?;
            access::wait_stores(cx, warp);
        }
        Tcgen05::FenceBefore => cx.cluster.races.fence_tensor_before(warp.threads(mask)),
        Tcgen05::FenceAfter => order::fence_after(cx, (warp, mask)),
        Tcgen05::Mma(mma) => each(mask, |lane| mma::issue(cx, warp, mma, lane))?,
        Tcgen05::Copy(copy) => each(mask, |lane| copy::issue(cx, warp, copy, lane))?,
        Tcgen05::Shift { group, address } => {
            each(mask, |lane| copy::shift(cx, warp, (*group, address), lane))?;
        }
        Tcgen05::Commit { barrier, multicast } => {
            each(mask, |lane| flight::commit(cx, warp, (barrier, *multicast), lane))?;
        }
    }
    Ok(Flow::Next)
}

/// The lanes of a warp must all be there.
fn whole(mask: u32, name: &str) -> Run<()> {
    if mask == u32::MAX {
        return Ok(());
    }
    let detail = format!("`{name}` needs all 32 lanes of the warp, only {mask:#010x} are there");
    Err(Trap::new(FaultKind::WarpDivergence, detail).lane((!mask).trailing_zeros()))
}

/// What one thread does, for one thread after another.
fn each(mask: u32, mut one: impl FnMut(usize) -> Run<()>) -> Run<()> {
    for lane in lanes(mask) {
        one(lane).map_err(
            |trap| if trap.lane.is_some() { trap } else { trap.lane(lane_number(lane)) },
        )?;
    }
    Ok(())
}

/// A value that all lanes of a warp must agree on.
fn uniform(warp: &Warp, slot: W, what: &str) -> Run<u32> {
    let undefined = !warp.regs.w_defined(slot);
    if undefined != 0 {
        let use_ = format!("is {what}");
        return Err(super::uninitialised(warp, Slot::W(slot), undefined, &use_));
    }
    let values = warp.regs.w(slot);
    agreed(values, what)
}

/// The address of a whole warp in tensor memory.
fn warp_address(warp: &Warp, address: &Address) -> Run<Place> {
    let all = super::memory::addresses(warp, address, u32::MAX)?;
    let narrow = |address: u64| u32::try_from(address).expect("addresses of a window wrap");
    agreed(&all.map(narrow), "the address in tensor memory").map(Place::of)
}

fn agreed(values: &[u32; 32], what: &str) -> Run<u32> {
    match lanes(u32::MAX).find(|&lane| values[lane] != values[0]) {
        None => Ok(values[0]),
        Some(lane) => {
            let detail = format!(
                "{what} differs between the lanes of a warp: {:#x} and {:#x}",
                values[0], values[lane]
            );
            Err(Trap::new(FaultKind::IllegalOperand, detail).lane(lane_number(lane)))
        }
    }
}

/// The address of one thread in tensor memory.
fn thread_address(warp: &Warp, address: &Address, lane: usize) -> Run<Place> {
    let all = super::memory::addresses(warp, address, 1 << lane)?;
    Ok(Place::of(u32::try_from(all[lane]).expect("addresses of a window wrap")))
}

/// A place in tensor memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    lane: u32,
    column: u32,
}

impl Place {
    const fn of(address: u32) -> Place {
        Place { lane: address >> 16, column: address & 0xFFFF }
    }

    const fn address(self) -> u32 {
        self.lane << 16 | self.column
    }
}

/// The blocks that act together, the executing one among them.
fn blocks(cx: &Context<'_>, group: Group) -> Run<Vec<usize>> {
    match group {
        Group::One => Ok(vec![cx.block]),
        Group::Pair => {
            let first = cx.block & !1;
            let count = cx.cluster.blocks.len();
            if first + 1 < count {
                return Ok(vec![first, first + 1]);
            }
            let detail = format!(
                "`.cta_group::2` needs a pair of blocks whose ranks in the cluster differ in the last bit, and block {} of {count} has no partner: give the cluster an even number of blocks",
                cx.block
            );
            Err(Trap::new(FaultKind::IllegalOperand, detail))
        }
    }
}

/// Columns must be allocated.
fn allocated(cx: &Context<'_>, block: usize, place: Place, columns: u32, what: &str) -> Run<()> {
    let tensor = &cx.cluster.blocks[block].tensor;
    let Some(missing) = tensor.missing(place.column, columns) else { return Ok(()) };
    let Place { column, .. } = place;
    let end = column + columns;
    let mut has = tensor
        .allocations()
        .iter()
        .map(|(first, count)| format!("{first}..{}", first + count))
        .collect::<Vec<_>>()
        .join(", ");
    if has.is_empty() {
        "no columns".clone_into(&mut has);
    }
    let whose = if block == cx.block { "the block" } else { "the other block of the pair" };
    let beyond = if missing >= COLUMNS { ", and there are 512" } else { "" };
    let detail = format!(
        "{what} is columns {column}..{end} of tensor memory, of which column {missing} is not allocated: {whose} holds {has}{beyond}"
    );
    let address = u64::from(place.address());
    Err(Trap::new(FaultKind::OutOfBounds, detail).address(address))
}
