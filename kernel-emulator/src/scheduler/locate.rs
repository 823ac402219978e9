//! What is reported about a trap: where the instructions stand that take part, and what each of them did.

use std::fmt::Write;

use crate::code::wgmma::Wgmma;
use crate::code::{BulkCopy, Op, Place};
use crate::exec::bulk::{self, flight};
use crate::fault::{
    By, ByZero, Earlier, Fault, FaultKind, MapFence, Passed, Site, SourceLine, Trap, Unfenced,
    Unwritten,
};
use crate::machine::{Cluster, Launch, Warp, slot_name};
use crate::memory::race::Seat;

/// A fault with its place.
pub(crate) fn locate(launch: &Launch<'_>, trap: &Trap, block: [u32; 3], warp: &Warp) -> Fault {
    let pc = trap.pc.unwrap_or(warp.pc);
    let origin = launch.code.origins.get(pc as usize).copied().unwrap_or_default();
    Fault {
        kind: trap.kind,
        entry: launch.entry.to_owned(),
        source: source_line(launch, origin.source),
        ptx_line: origin.line,
        ptx: crate::program::instruction_text(launch.text, origin.line),
        block,
        warp: warp.index,
        lane: trap.lane,
        address: trap.address,
        bytes: trap.bytes,
        other: trap.other_pc().map(|pc| site(launch, pc, other_agent(launch, trap, warp))),
        missing: missing(launch, trap, warp),
        detail: detail(launch, trap, warp),
        findings: Vec::new(),
    }
}

/// Names the block that issued the copy concerned, where it is another one.
pub(crate) fn name_block(trap: &mut Trap, cluster: &Cluster, block: usize) {
    let from = trap.copy.and_then(|issuer| flight::issued_elsewhere(cluster, block, issuer));
    trap.from = from.map(|from| cluster.blocks[from].id);
}

/// Where an instruction stands, and who executes it.
fn site(launch: &Launch<'_>, pc: u32, agent: String) -> Site {
    let origin = launch.code.origins.get(pc as usize).copied().unwrap_or_default();
    Site {
        source: source_line(launch, origin.source),
        ptx_line: origin.line,
        ptx: crate::program::instruction_text(launch.text, origin.line),
        agent,
    }
}

/// Who executes the other instruction that takes part in a fault.
fn other_agent(launch: &Launch<'_>, trap: &Trap, warp: &Warp) -> String {
    let of_block = |block: u32| {
        if block == warp.block {
            String::new()
        } else {
            format!(" of block {block} of the cluster")
        }
    };
    if let Some(Earlier { by, .. }) = trap.other {
        return match by {
            By::Lane { block, warp, lane } => {
                format!("lane {lane} of warp {warp}{}", of_block(block))
            }
            By::Elsewhere { block: [x, y, z], warp, lane } => {
                format!("lane {lane} of warp {warp} of block ({x}, {y}, {z})")
            }
            By::Warp(warp) => format!("warp {warp}"),
            By::Start { block } => format!("the start of block {block} of the cluster"),
            By::Copy => "an asynchronous copy".to_owned(),
        };
    }
    if let Some(Unfenced { warp, lane, .. }) = trap.unfenced {
        return format!("lane {lane} of warp {warp}");
    }
    if let Some((warp, pc)) = trap.copy {
        let what = if matches!(launch.code.insts[pc as usize].op, Op::Wgmma(_)) {
            "a `wgmma`"
        } else {
            "an asynchronous operation"
        };
        return format!("{what} of warp {warp}");
    }
    "this warp, or an operation that it issued".to_owned()
}

/// The synchronising instruction that would have ordered the two operations of a hazard.
fn missing(launch: &Launch<'_>, trap: &Trap, warp: &Warp) -> Option<&'static str> {
    match (trap.kind, trap.other, trap.copy) {
        (FaultKind::ProxyFence, ..) => {
            Some(trap.map_fence.map_or("fence.proxy.async", MapFence::name))
        }
        (FaultKind::WgmmaFence, ..) => Some("wgmma.fence"),
        (FaultKind::TensorFence, ..) => Some("tcgen05.fence"),
        (_, Some(Earlier { by, pc: other_pc, .. }), _) => Some(match by {
            By::Lane { block, warp: other, .. } if (block, other) == warp.seat() => "bar.warp.sync",
            By::Lane { block, .. } if block == warp.block => "bar.sync",
            By::Warp(_) => "bar.sync",
            By::Lane { .. } | By::Start { .. } => "barrier.cluster.arrive and barrier.cluster.wait",
            By::Elsewhere { .. } => "a release and an acquire in the scope .gpu",
            By::Copy => bulk::wait_of(&launch.code.insts[other_pc as usize].op),
        }),
        (_, _, Some((_, pc))) => Some(bulk::wait_of(&launch.code.insts[pc as usize].op)),
        (_, None, None) => None,
    }
}

/// The kernel's source line of an instruction.
fn source_line(launch: &Launch<'_>, (file, line, column): (u32, u32, u32)) -> Option<SourceLine> {
    let name = || launch.files.iter().find(|(i, _)| *i == file).map(|(_, name)| name.clone());
    (line > 0).then(|| SourceLine { file: name().unwrap_or_default(), line, column })
}

/// Where an instruction stands, in the text and in the kernel's source.
fn instruction_place(launch: &Launch<'_>, pc: u32) -> String {
    let origin = launch.code.origins.get(pc as usize).copied().unwrap_or_default();
    let mut text = format!("PTX line {}", origin.line);
    if let Some(source) = source_line(launch, origin.source) {
        let _ = write!(text, " ({source})");
    }
    text
}

/// Whether an mbarrier tells when an instruction has written shared memory.
fn is_copy(op: &Op) -> bool {
    matches!(op, Op::Bulk(BulkCopy::Bytes(_) | BulkCopy::Tensor(_) | BulkCopy::Store(_)))
}

/// What happened, with all that took part.
fn detail(launch: &Launch<'_>, trap: &Trap, warp: &Warp) -> String {
    let mut text = trap.detail.clone();
    if let Some(slot) = trap.slot {
        let name = slot_name(launch.code, slot).unwrap_or("an operand");
        text = format!("register `{name}` {text}");
    }
    if let Some(load) = trap.unwritten {
        text.push_str(&never_written(launch, load, trap.later));
    }
    if let Some(ByZero { pc, lanes, dividend }) = trap.by_zero {
        let (lane, place) = (lanes.trailing_zeros(), instruction_place(launch, pc));
        let _ = write!(text, "; lane {lane} last divided {dividend} by 0 in {place}");
    }
    if let (FaultKind::ProxyFence, Some(Earlier { pc, .. })) = (trap.kind, trap.other) {
        let (who, place) = (other_agent(launch, trap, warp), instruction_place(launch, pc));
        let _ = write!(text, ", which {who} wrote in {place}, and {}", between_proxies(trap));
    } else if let Some(other) = trap.other {
        text.push_str(&earlier(launch, other, warp.seat()));
        if let (Some(Passed { pc, parity, .. }), By::Lane { warp: reader, .. }) =
            (trap.passed, other.by)
        {
            let (place, parity) = (instruction_place(launch, pc), u8::from(parity));
            let _ = write!(
                text,
                "; warp {reader} had seen phase parity {parity} of the copy's mbarrier end, and waited in {place} for that one again: for the wrong phase?"
            );
        }
    }
    if let Some(Unfenced { warp, lane, pc, did, missing }) = trap.unfenced {
        let place = instruction_place(launch, pc);
        let _ = write!(
            text,
            ", which lane {lane} of warp {warp} {did}, in {place}, and that thread {missing}"
        );
    }
    if let Some(copy) = trap.copy {
        text.push_str(&under_way(launch, copy, trap, warp));
    }
    if let Some(pc) = trap.product {
        let _ = write!(text, "; it was issued in {}", instruction_place(launch, pc));
    }
    if let Some(pc) = trap.touched {
        let _ = write!(text, ", in {}", instruction_place(launch, pc));
    }
    text
}

/// What is missing behind a write of global memory that another proxy reads.
fn between_proxies(trap: &Trap) -> &'static str {
    match trap.map_fence {
        None => "no `fence.proxy.async` that this thread knows of lies between",
        Some(MapFence::Release) => {
            "no `fence.proxy.tensormap::generic.release` (or `tensormap.cp_fenceproxy`), in a scope with this thread, that this thread knows of came after"
        }
        Some(MapFence::Acquire) => {
            "since the release of that no thread of this block that this one knows of executed `fence.proxy.tensormap::generic.acquire` for this address, in a scope with the writer"
        }
    }
}

/// A load that brought bytes never written, and who writes them later: instruction, warp.
fn never_written(launch: &Launch<'_>, load: Unwritten, later: Option<(u32, u32)>) -> String {
    let from = match load.place {
        Place::Shared => "from shared memory ",
        Place::Local => "from local memory ",
        Place::Global | Place::Const => "from global memory ",
        Place::Param => "from the parameters ",
        Place::Generic => "",
    };
    let (place, lane, address) = (instruction_place(launch, load.pc), load.lane, load.address);
    let text = format!(
        "; bytes never written were last loaded {from}in {place}, by lane {lane} at {address:#x}"
    );
    let Some((pc, other)) = later else { return text };
    let place = instruction_place(launch, pc);
    if is_copy(&launch.code.insts[pc as usize].op) {
        format!(
            "{text}; an asynchronous copy that warp {other} issues in {place} writes shared memory that this warp had read: is a wait for its mbarrier missing before the load, or is it for another phase?"
        )
    } else {
        format!(
            "{text}; warp {other} writes shared memory that this warp had read, in {place}, without a barrier between: is a `sync()` missing before the load?"
        )
    }
}

/// The earlier access of a race with one of a warp.
fn earlier(launch: &Launch<'_>, Earlier { pc, by, wrote }: Earlier, this: Seat) -> String {
    let place = instruction_place(launch, pc);
    let (of, warp, lane) = match by {
        By::Lane { block, warp, lane } => (block, warp, Some(lane)),
        By::Warp(warp) => (this.0, warp, None),
        By::Elsewhere { block: [x, y, z], warp, lane } => {
            let what = if wrote { "wrote" } else { "read" };
            return format!(
                ", which lane {lane} of warp {warp} of block ({x}, {y}, {z}) {what} in {place}, and nothing orders that before this instruction: there a release in scope `.gpu` has to follow (such as `fence.acq_rel.gpu` and an atomic operation on a flag), and here an acquire of the same flag has to come before"
            );
        }
        By::Start { block } => {
            return format!(
                " of block {block} of the cluster, which may not have started: is a `barrier.cluster.arrive` and `.wait` missing at the start of the kernel?"
            );
        }
        By::Copy if bulk::is_store(&launch.code.insts[pc as usize].op) => {
            return format!(
                ", which an asynchronous copy writes that was issued in {place}: its thread has to wait until it has written (`cp.async.bulk.wait_group`, without `.read`), and this thread to synchronise with that one"
            );
        }
        By::Copy => {
            let what = if wrote { "wrote" } else { "read" };
            let products = matches!(launch.code.insts[pc as usize].op, Op::Tcgen05(_));
            let operation = if products { "a `tcgen05` operation" } else { "an asynchronous copy" };
            return format!(
                ", which {operation} {what} that was issued in {place}, and this warp neither waited for its mbarrier nor synchronised with who did"
            );
        }
    };
    if !wrote && matches!(launch.code.insts[pc as usize].op, Op::Bulk(BulkCopy::Wait { .. })) {
        return format!(
            ", which an asynchronous copy of warp {warp} read until the wait in {place}, and no barrier lies between that wait and this instruction"
        );
    }
    let what = if wrote { "wrote" } else { "read" };
    match lane {
        Some(lane) if (of, warp) == this => format!(
            ", which lane {lane} of this warp {what} in {place}, and the two lanes have not met since: is a `bar.warp.sync` missing between?"
        ),
        _ if of == this.0 => {
            format!(", which warp {warp} {what} in {place}, without a barrier between")
        }
        _ => format!(
            ", which warp {warp} of block {of} of the cluster {what} in {place}, and nothing orders that before this instruction: is a cluster barrier, or an arrival at an mbarrier, missing between?"
        ),
    }
}

/// An operation in flight that a warp meets: who issued it, and how to wait for it.
fn under_way(launch: &Launch<'_>, (other, pc): (u32, u32), trap: &Trap, warp: &Warp) -> String {
    let place = instruction_place(launch, pc);
    let op = &launch.code.insts[pc as usize].op;
    let mut advice = bulk::advice(op).to_owned();
    if let Some(Passed { pc, parity, .. }) = trap.passed {
        let (before, now) = (u8::from(parity), u8::from(!parity));
        let place = instruction_place(launch, pc);
        let _ = write!(
            advice,
            ", for phase parity {now}; the last wait of this warp, in {place}, was for {before}"
        );
    }
    if trap.from.is_none() && other != warp.index && !matches!(op, Op::Wgmma(Wgmma::Mma(_))) {
        advice.push_str("; where the copy refills what this warp still uses, is a `sync()` missing before that copy?");
    }
    let block = trap.from.map(|[x, y, z]| format!(" of block ({x}, {y}, {z})")).unwrap_or_default();
    format!("; warp {other}{block} issued it in {place}: {advice}")
}
