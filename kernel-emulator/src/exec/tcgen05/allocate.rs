//! `tcgen05.alloc`, `tcgen05.dealloc`, and what must be true at the end of a block.
//!
//! In a pair, a warp of each block executes them, and neither continues before the other has begun (PTX ISA, "Issue Granularity").

use super::{Place, uniform};
use crate::code::{Address, LANES, W};
use crate::code::{Order, tcgen05::Group};
use crate::exec::memory::{addresses, place, resolve};
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::{Context, Flow, State, Warp};
use crate::memory::tensor::{COLUMNS, Region, Together};

/// A number of columns that can be allocated.
fn size(warp: &Warp, columns: W) -> Run<u32> {
    let columns = uniform(warp, columns, "the number of columns")?;
    if (32..=COLUMNS).contains(&columns) && columns.is_power_of_two() {
        return Ok(columns);
    }
    let detail = format!(
        "{columns} columns of tensor memory: a power of two from 32 to {COLUMNS} is required"
    );
    Err(Trap::new(FaultKind::IllegalOperand, detail))
}

fn misuse<T>(detail: String) -> Run<T> {
    Err(Trap::new(FaultKind::TensorMemory, detail))
}

/// Begins what the blocks of a pair do together, the first time that a warp executes it: what it waits for before it continues.
fn begin(cx: &mut Context<'_>, warp: &Warp, group: Group, what: Together) -> Run<Option<State>> {
    super::blocks(cx, group)?;
    if group == Group::One {
        return Ok(None);
    }
    let partner = cx.block ^ 1;
    let tensor = &mut cx.block().tensor;
    let known = tensor.waiting.iter().find(|(index, _)| *index == warp.index);
    let at = known.map_or(tensor.begun.len(), |(_, at)| *at);
    if at == tensor.begun.len() {
        tensor.begun.push(what);
        tensor.waiting.push((warp.index, at));
    }
    match cx.cluster.blocks[partner].tensor.begun.get(at) {
        None => Ok(Some(State::Partner { begun: at })),
        Some(other) if *other == what => Ok(None),
        Some(other) => misuse(format!(
            "the blocks of a pair allocate and give back tensor memory together: {} here, {} in the other block",
            what.text(),
            other.text()
        )),
    }
}

/// A warp has done what it had begun.
fn done(cx: &mut Context<'_>, warp: &Warp) {
    cx.block().tensor.waiting.retain(|(index, _)| *index != warp.index);
}

/// `tcgen05.relinquish_alloc_permit`
pub(super) fn relinquish(cx: &mut Context<'_>, warp: &Warp, group: Group) -> Run<Flow> {
    if let Some(state) = begin(cx, warp, group, Together::Relinquish)? {
        return Ok(Flow::Retry(state));
    }
    done(cx, warp);
    cx.block().tensor.relinquished = true;
    Ok(Flow::Next)
}

/// `tcgen05.alloc`. Of a pair, the two blocks do the same, and get the same columns.
pub(super) fn alloc(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    (group, to, columns): (Group, &Address, W),
) -> Run<Flow> {
    let columns = size(warp, columns)?;
    let at = addresses(warp, to, u32::MAX)?;
    let tensor = &mut cx.block().tensor;
    if tensor.relinquished {
        return misuse(
            "`tcgen05.alloc` after the block executed `tcgen05.relinquish_alloc_permit`".to_owned(),
        );
    }
    if let Some(last) = tensor.last.filter(|last| *last < columns) {
        return misuse(format!(
            "`tcgen05.alloc` of {columns} columns after one of {last}: the allocations of a block must not grow, so the largest comes first"
        ));
    }
    if let Some(state) = begin(cx, warp, group, Together::Alloc { columns })? {
        return Ok(Flow::Retry(state));
    }
    let Some(start) = cx.launch.multiprocessors.allocate(&cx.seats(), columns) else {
        return Ok(Flow::Retry(State::Columns { count: columns }));
    };
    cx.block().tensor.allocate(start, columns);
    super::order::allocated(cx, warp, Region { shares: u8::MAX, column: start, columns });
    done(cx, warp);
    let (mut place, mut local) = (to.place, at);
    if place == crate::code::Place::Generic {
        (place, _, local) = resolve(&at, u32::MAX);
    }
    if place != crate::code::Place::Shared {
        let detail = "`tcgen05.alloc` writes the address to shared memory";
        return Err(Trap::new(FaultKind::WrongSpace, detail).address(at[0]));
    }
    let words = [[u64::from(Place { lane: 0, column: start }.address()); LANES]];
    let at = place::At { place, order: Order::WEAK, addresses: &local, bytes: 4 };
    place::store(cx, warp, at, (1, u32::MAX), &words)?;
    Ok(Flow::Next)
}

/// `tcgen05.dealloc`
pub(super) fn dealloc(
    cx: &mut Context<'_>,
    warp: &Warp,
    (group, address, columns): (Group, W, W),
) -> Run<Flow> {
    let columns = size(warp, columns)?;
    let at = Place::of(uniform(warp, address, "the address to give back")?);
    let held: Vec<_> = cx.block().tensor.allocations().to_vec();
    if at.lane != 0 || !held.contains(&(at.column, columns)) {
        let end = at.column + columns;
        let list: Vec<_> = held.iter().map(|(a, n)| format!("{a}..{}", a + n)).collect();
        let holds = if list.is_empty() { "nothing".to_owned() } else { list.join(", ") };
        let detail = format!(
            "`tcgen05.dealloc` of columns {}..{end}, which is no allocation of the block: it holds {holds}",
            at.column
        );
        return Err(Trap::new(FaultKind::TensorMemory, detail).address(u64::from(at.address())));
    }
    if let Some(state) = begin(cx, warp, group, Together::Dealloc { columns })? {
        return Ok(Flow::Retry(state));
    }
    done(cx, warp);
    let region = Region { shares: u8::MAX, column: at.column, columns };
    super::order::released(cx, warp, region)?;
    cx.block().tensor.deallocate(at.column, columns);
    cx.launch.multiprocessors.deallocate(cx.seats()[0], at.column);
    cx.block().events += 1;
    Ok(Flow::Next)
}

/// The last warp of a block left the kernel.
///
/// # Errors
/// Columns that are still allocated, or an operation that is in flight.
pub(crate) fn leave(cx: &Context<'_>) -> Run<()> {
    super::flight::leave(cx)?;
    let held = cx.cluster.blocks[cx.block].tensor.allocations();
    if held.is_empty() {
        return Ok(());
    }
    let list: Vec<_> = held.iter().map(|(a, n)| format!("{a}..{}", a + n)).collect();
    misuse(format!(
        "the block leaves the kernel and still holds columns {} of tensor memory: a `tcgen05.dealloc` is missing",
        list.join(", ")
    ))
}
