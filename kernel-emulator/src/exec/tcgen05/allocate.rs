//! `tcgen05.alloc`, `tcgen05.dealloc`, and what must be true at the end of a block.

use super::{Place, uniform};
use crate::code::tcgen05::Group;
use crate::code::{Address, LANES, W};
use crate::exec::memory::{addresses, place, resolve};
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::{Context, Flow, State, Warp};
use crate::memory::tensor::{COLUMNS, Region};

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

/// `tcgen05.alloc`. Of a pair, each block allocates for itself: the two do the same, and get the same columns.
pub(super) fn alloc(
    cx: &mut Context<'_>,
    warp: &mut Warp,
    (group, to, columns): (Group, &Address, W),
) -> Run<Flow> {
    super::blocks(cx, group)?;
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
    let Some(start) = tensor.room(columns) else {
        return Ok(Flow::Retry(State::Columns { count: columns }));
    };
    tensor.allocate(start, columns);
    let (mut place, mut local) = (to.place, at);
    if place == crate::code::Place::Generic {
        (place, _, local) = resolve(&at, u32::MAX);
    }
    if place != crate::code::Place::Shared {
        let detail = "`tcgen05.alloc` writes the address to shared memory";
        return Err(Trap::new(FaultKind::WrongSpace, detail).address(at[0]));
    }
    let words = [[u64::from(Place { lane: 0, column: start }.address()); LANES]];
    place::store(cx, warp, (place, false), &local, 4, (1, u32::MAX), &words)?;
    Ok(Flow::Next)
}

/// `tcgen05.dealloc`
pub(super) fn dealloc(
    cx: &mut Context<'_>,
    warp: &Warp,
    (group, address, columns): (Group, W, W),
) -> Run<()> {
    super::blocks(cx, group)?;
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
    let region = Region { shares: u8::MAX, column: at.column, columns };
    super::order::released(cx, warp, region)?;
    let tensor = &mut cx.block().tensor;
    tensor.deallocate(at.column, columns);
    cx.block().events += 1;
    Ok(())
}

/// The last warp of a block left the kernel.
///
/// # Errors
/// Columns that are still allocated, or an operation that is under way.
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
