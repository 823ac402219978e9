//! `wgmma` (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions").
//!
//! A product waits until the four warps of a warpgroup are there, and reads shared memory then. Each warp
//! computes its sixteen rows at once, but they count as in flight until the warp waits for them: until then
//! its registers must not be touched, and what any of the four warps still reads must not be written.

mod sparse;
mod tile;

use super::memory::hazards;
use crate::code::wgmma::{Left, Product, Wgmma};
use crate::code::{D, LANES, Slot, W, Words};
use crate::fault::{FaultKind, Run, Trap, Unwritten};
use crate::machine::warp::{lane_number, lanes};
use crate::machine::warpgroup::{Reads, Ticket, WARPS, Warpgroup};
use crate::machine::{Block, Cluster, Context, Flow, State, Warp};
use crate::memory::race::{Accessor, Touch};
use crate::numeric::fragment;
use crate::numeric::wgmma::{self, ROWS};

/// The lanes of a warp must all be there.
fn whole(mask: u32) -> Run<()> {
    if mask == u32::MAX {
        return Ok(());
    }
    let detail = format!("`wgmma` needs all 32 lanes of each warp, only {mask:#010x} are there");
    Err(Trap::new(FaultKind::WarpDivergence, detail).lane((!mask).trailing_zeros()))
}

/// `wgmma`, all forms.
pub(crate) fn step(cx: &mut Context<'_>, warp: &mut Warp, op: &Wgmma, mask: u32) -> Run<Flow> {
    match op {
        Wgmma::Mma(product) => return issue(cx, warp, product, mask),
        Wgmma::Fence => fence(warp, mask)?,
        Wgmma::Commit => commit(warp, mask)?,
        Wgmma::Wait { keep } => wait(cx, warp, *keep, mask)?,
    }
    Ok(Flow::Next)
}

/// `wgmma.mma_async`
fn issue(cx: &mut Context<'_>, warp: &mut Warp, op: &Product, mask: u32) -> Run<Flow> {
    whole(mask)?;
    let (group, member) = (warp.index / WARPS, warp.index % WARPS);
    let warps = cx.launch.threads() / 32;
    if warps < (group + 1) * WARPS {
        let detail = format!(
            "`wgmma` needs the four whole warps {} to {}, the block has {warps}",
            group * WARPS,
            group * WARPS + 3
        );
        return Err(Trap::new(FaultKind::WarpDivergence, detail));
    }
    let block = cx.block();
    let index = group as usize;
    if block.warpgroups.len() <= index {
        block.warpgroups.resize_with(index + 1, Warpgroup::default);
    }
    if block.warpgroups[index].admitted >> member & 1 != 0 {
        multiply(cx, warp, op)?;
        return Ok(Flow::Next);
    }
    let permitted = warp.products.check(&op.d, (op.columns, op.accumulator), op.fragments());
    permitted.or_else(|trap| cx.found(trap))?;
    let ticket = ticket(warp, op)?;
    if let Some(metadata) = op.sparse {
        sparse::check_selector(op, metadata)?;
    }
    let block = cx.block();
    let here = &mut block.warpgroups[index];
    if here.waiting == 0 {
        here.ticket = ticket;
    } else {
        same(&here.ticket, &ticket, here.waiting.trailing_zeros() + group * WARPS)?;
    }
    here.waiting |= 1 << member;
    if here.waiting.count_ones() < WARPS {
        let generation = here.generation;
        let group = u8::try_from(group).expect("a block has at most eight warpgroups");
        return Ok(Flow::Retry(State::Warpgroup { group, generation }));
    }
    (here.admitted, here.waiting) = (here.waiting, 0);
    here.generation += 1;
    read(block, (warp.index, warp.pc), op, &ticket)?;
    let block = &cx.cluster.blocks[cx.block];
    let reads = block.warpgroups[index].flight.back().expect("it was just issued");
    hazards::landed(cx, cx.block, &reads.a, "matrix A of `wgmma`")?;
    hazards::landed(cx, cx.block, &reads.b, "matrix B of `wgmma`")?;
    multiply(cx, warp, op)?;
    Ok(Flow::Next)
}

/// What the warps of a product have in common.
fn ticket(warp: &Warp, op: &Product) -> Run<Ticket> {
    let undefined = !warp.regs.p_defined(op.scale_d.slot);
    if undefined != 0 {
        let use_ = "decides whether D is added to";
        return Err(super::uninitialised(warp, Slot::P(op.scale_d.slot), undefined, use_));
    }
    let accumulates = warp.regs.pred(op.scale_d);
    if accumulates != 0 && accumulates != u32::MAX {
        let detail = "whether D is added to differs between the lanes of a warp";
        let lane = accumulates.trailing_ones().max(accumulates.trailing_zeros());
        return Err(Trap::new(FaultKind::IllegalOperand, detail).lane(lane));
    }
    let a = match &op.a {
        Left::Fragments(_) => None,
        Left::Shared(tile) => Some(descriptor(warp, tile.descriptor, "A")?),
    };
    let b = descriptor(warp, op.b.descriptor, "B")?;
    Ok(Ticket { pc: warp.pc, a, b, accumulates: accumulates != 0 })
}

/// A descriptor, which all lanes must agree on.
fn descriptor(warp: &Warp, slot: D, name: &str) -> Run<u64> {
    let undefined = !warp.regs.d_defined(slot);
    if undefined != 0 {
        let use_ = format!("is the descriptor of {name}");
        return Err(super::uninitialised(warp, Slot::D(slot), undefined, &use_));
    }
    let values = warp.regs.d(slot);
    match lanes(u32::MAX).find(|&lane| values[lane] != values[0]) {
        None => Ok(values[0]),
        Some(lane) => {
            let detail = format!(
                "the descriptor of {name} differs between the lanes of a warp: {:#x} and {:#x}",
                values[0], values[lane]
            );
            Err(Trap::new(FaultKind::IllegalOperand, detail).lane(lane_number(lane)))
        }
    }
}

/// The warps of a product execute the same instruction on the same matrices.
fn same(first: &Ticket, own: &Ticket, other: u32) -> Run<()> {
    if first.pc != own.pc {
        let detail = format!(
            "the warps of a warpgroup execute one `wgmma` together, and warp {other} is at another"
        );
        let mut trap = Trap::new(FaultKind::WarpDivergence, detail);
        trap.touched = Some(first.pc);
        return Err(trap);
    }
    let differs = |what: &str, first: u64, own: u64| {
        let detail = format!(
            "{what} differs between the warps of a warpgroup: {first:#x} in warp {other}, {own:#x} here"
        );
        Err(Trap::new(FaultKind::IllegalOperand, detail))
    };
    if first.b != own.b {
        return differs("the descriptor of B", first.b, own.b);
    }
    match (first.a, own.a) {
        (Some(first), Some(own)) if first != own => differs("the descriptor of A", first, own),
        _ if first.accumulates != own.accumulates => differs(
            "whether D is added to",
            u64::from(first.accumulates),
            u64::from(own.accumulates),
        ),
        _ => Ok(()),
    }
}

/// Reads the factors in shared memory, for all four warps.
fn read(block: &mut Block, issuer: (u32, u32), op: &Product, ticket: &Ticket) -> Run<()> {
    let group = (issuer.0 / WARPS) as usize;
    let Block { warpgroups, shared, .. } = block;
    let here = &mut warpgroups[group];
    let depth = op.depth();
    let columns = op.columns as usize;
    let factors = &mut here.factors;
    factors.accumulates = ticket.accumulates;
    factors.a.clear();
    factors.a_unwritten.clear();
    let mut a_units = Vec::new();
    if let (Left::Shared(tile), Some(bits)) = (&op.a, ticket.a) {
        factors.a.resize(ROWS * WARPS as usize * depth, 0.0);
        let a = &mut factors.a;
        let rows = 4 * WARPS * 4;
        let size = (op.a_type, rows, 32);
        let read = tile::read(shared, "A", (bits, tile.major), size, |row, k, x| {
            a[row * depth + k] = x;
        })?;
        (a_units, factors.a_unwritten) = (read.units, read.unwritten);
        factors.unwritten_at = read.unwritten_at;
    }
    factors.b.clear();
    factors.b.resize(columns * op.depth_of_b(), 0.0);
    let b = &mut factors.b;
    let bits = (ticket.b, op.b.major);
    let size = (op.b_type, op.columns, op.column_bytes());
    let read = tile::read(shared, "B", bits, size, |column, k, x| {
        b[k * columns + wgmma::place(column)] = x;
    })?;
    factors.b_unwritten = read.unwritten;
    if !factors.b_unwritten.is_empty() {
        factors.unwritten_at = read.unwritten_at;
    }
    if here.flight.is_empty() {
        here.first = here.issued + 1;
    }
    here.issued += 1;
    let all = (1 << WARPS) - 1;
    let reads = Reads { a: a_units, b: read.units, open: all };
    for member in 0..WARPS {
        shared.hold_units(reads.quarter(member), 1, issuer);
    }
    shared.hold_units(&reads.b, WARPS, issuer);
    here.flight.push_back(reads);
    Ok(())
}

/// One warp's rows of a product that was admitted.
fn multiply(cx: &mut Context<'_>, warp: &mut Warp, op: &Product) -> Run<()> {
    let (index, member) = ((warp.index / WARPS) as usize, warp.index % WARPS);
    let handed_on = cx.cluster.races.handed_on(warp.seat());
    let shape = (op.columns, op.accumulator);
    let number = warp.products.issue((warp.pc, handed_on), &op.d, shape, op.fragments());
    reads(cx, warp, number)?;
    let tensor_core = cx.launch.tensor_core;
    let here = &mut cx.block().warpgroups[index];
    here.admitted &= !(1 << member);
    let accumulates = here.factors.accumulates;
    let columns = op.columns as usize;
    let depth = op.depth();
    let factors = &here.factors;
    let mut own;
    let rows = ROWS * depth;
    let a: &[f32] = match &op.a {
        Left::Shared(_) if !op.negated => &factors.a[rows * member as usize..][..rows],
        Left::Shared(_) => {
            own = factors.a[rows * member as usize..][..rows].to_vec();
            &mut own
        }
        Left::Fragments(registers) => {
            own = fragments(warp, op, registers);
            &mut own
        }
    };
    let negative: Vec<f32>;
    let a = if op.negated {
        negative = a.iter().map(|x| -x).collect();
        &negative
    } else {
        a
    };
    let mut d = vec![0.0; ROWS * columns];
    if accumulates {
        let registers = op.d.iter().map(|register| warp.regs.w(*register));
        wgmma::start(op.accumulator, registers, columns, &mut d);
    }
    let (left, right) = ((op.a_type, a), (op.b_type, &factors.b[..]));
    let mut defined = Defined::of(warp, op, &factors.a_unwritten, &factors.b_unwritten);
    match op.sparse {
        None => wgmma::add_products(left, right, (op.accumulator, columns), &mut d, tensor_core),
        Some(metadata) => {
            let unknown = sparse::unknown(warp, op, metadata);
            let rows = sparse::rows(warp, op, metadata, unknown)?;
            let shape = (op.accumulator, columns);
            wgmma::add_sparse_products(left, right, &rows, shape, &mut d, tensor_core);
            defined.rows &= !unknown;
        }
    }
    if !(factors.a_unwritten.is_empty() && factors.b_unwritten.is_empty()) {
        let (pc, address) = (warp.pc, factors.unwritten_at);
        warp.unwritten =
            Some(Unwritten { pc, lane: 0, address, place: crate::code::Place::Shared });
    }
    for (i, register) in op.d.iter().enumerate() {
        let (c, c_defined) = if accumulates {
            (Some(warp.regs.w(*register)), warp.regs.w_defined(*register))
        } else {
            (None, u32::MAX)
        };
        let value: Words = wgmma::result(op.accumulator, i, columns, &d, c);
        warp.regs.set_w(*register, &value, u32::MAX, c_defined & defined.lanes(op, i));
    }
    Ok(())
}

/// Checks what a warp reads of shared memory for a product: who wrote it has synchronised with it since, after a
/// `fence.proxy.async` if it was an ordinary write.
fn reads(cx: &mut Context<'_>, warp: &Warp, number: u64) -> Run<()> {
    let (index, member) = ((warp.index / WARPS) as usize, warp.index % WARPS);
    let Cluster { races, blocks, .. } = &mut *cx.cluster;
    let product = blocks[cx.block].warpgroups[index].product(number);
    let who = (warp.accessor(), cx.block, Touch::ReadTogether);
    let a = races.read_units(who, 0, product.quarter(member));
    let read = a.and_then(|()| races.read_units(who, 0, &product.b));
    read.or_else(|conflict| cx.found(hazards::raced(conflict)))?;
    if !cx.block().proxies.enabled() {
        return Ok(());
    }
    let product = cx.block().warpgroups[index].product(number);
    let units = [product.quarter(member), &product.b].concat();
    hazards::fenced_units(cx, warp, cx.block, &units)
}

/// A of one warp from its registers: the map of `mma`'s A (PTX ISA, "Register Fragments").
fn fragments(warp: &Warp, op: &Product, registers: &[W; 4]) -> Vec<f32> {
    let depth = op.depth();
    let per_register = depth / 8;
    let mut rows = vec![0.0; ROWS * depth];
    for (r, register) in registers.iter().enumerate() {
        for (lane, word) in warp.regs.w(*register).iter().enumerate() {
            let spot = fragment::a_place(per_register, r, 0, lane);
            let out = &mut rows[spot.row * depth + spot.column..][..per_register];
            op.a_type.widen(*word, out);
        }
    }
    rows
}

/// Which rows and columns of a warp's product derive from written data only.
struct Defined {
    /// A bit for each of the 16 rows.
    rows: u32,
    columns: Vec<bool>,
}

impl Defined {
    fn of(warp: &Warp, op: &Product, a: &[u32], b: &[u32]) -> Defined {
        let mut rows = u32::MAX;
        let first = warp.index % WARPS * 16;
        for row in a {
            if let Some(row) = row.checked_sub(first).filter(|row| *row < 16) {
                rows &= !(1 << row);
            }
        }
        for (r, register) in op.fragments().iter().enumerate() {
            for lane in lanes(!warp.regs.w_defined(*register)) {
                rows &= !(1 << fragment::a_place(1, r, 0, lane).row);
            }
        }
        let mut columns = Vec::new();
        if !b.is_empty() {
            columns.resize(op.columns as usize, true);
            for column in b {
                columns[*column as usize] = false;
            }
        }
        Defined { rows, columns }
    }

    /// The lanes of register `i` of D that are defined.
    fn lanes(&self, op: &Product, i: usize) -> u32 {
        if self.rows == u32::MAX && self.columns.is_empty() {
            return u32::MAX;
        }
        let mut defined = 0;
        for lane in 0..LANES {
            let (row, first) = wgmma::held(op.accumulator, i, lane);
            let count = if op.accumulator == wgmma::Accumulator::F16 { 2 } else { 1 };
            let columns = self.columns.iter().skip(first).take(count).all(|defined| *defined);
            defined |= u32::from(columns && self.rows >> row & 1 != 0) << lane;
        }
        defined
    }
}

/// `wgmma.fence`
fn fence(warp: &mut Warp, mask: u32) -> Run<()> {
    whole(mask)?;
    warp.products.fence();
    Ok(())
}

/// `wgmma.commit_group`
fn commit(warp: &mut Warp, mask: u32) -> Run<()> {
    whole(mask)?;
    warp.products.commit();
    Ok(())
}

/// `wgmma.wait_group`: what is complete for this warp is no longer read by it.
fn wait(cx: &mut Context<'_>, warp: &mut Warp, keep: u32, mask: u32) -> Run<()> {
    whole(mask)?;
    let done = warp.products.wait(keep);
    if done.is_empty() {
        return Ok(());
    }
    let (index, member) = ((warp.index / WARPS) as usize, warp.index % WARPS);
    let now = cx.cluster.races.handed_on(warp.seat());
    for (number, pc, handed_on) in done {
        let Cluster { races, blocks, .. } = &mut *cx.cluster;
        let Block { warpgroups, shared, .. } = &mut blocks[cx.block];
        let here = &mut warpgroups[index];
        let reads = here.product(number);
        reads.open &= !(1 << member);
        shared.let_units_go(reads.quarter(member));
        shared.let_units_go(&reads.b);
        if handed_on != now {
            // It read until here, and not only when it was issued.
            let who = (Accessor { pc, ..warp.accessor() }, cx.block, Touch::ReadTogether);
            let a = races.read_units(who, 0, reads.quarter(member));
            let read = a.and_then(|()| races.read_units(who, 0, &reads.b));
            read.or_else(|conflict| cx.found(hazards::raced(conflict).at(pc)))?;
        }
    }
    let here = &mut cx.block().warpgroups[index];
    while here.flight.front().is_some_and(|reads| reads.open == 0) {
        here.flight.pop_front();
        here.first += 1;
    }
    Ok(())
}

/// The fault of leaving the kernel while products are in flight.
pub(crate) fn leaves(cx: &Context<'_>, warp: &Warp) -> Run<()> {
    let Some(pc) = warp.products.in_flight() else { return Ok(()) };
    let detail = "the warp leaves the kernel while a `wgmma` is in flight: a `wgmma.commit_group` and a `wgmma.wait_group 0` are missing before";
    let mut trap = Trap::new(FaultKind::AsyncInFlight, detail);
    trap.product = Some(pc);
    cx.found(trap)
}
