//! What is reported about a trap: where the instructions stand that take part, and what each of them did.

use std::fmt::Write;

use crate::code::wgmma::Wgmma;
use crate::code::{BulkCopy, Op, Origin, Place};
use crate::exec::bulk::{self, flight};
use crate::fault::{
    By, ByZero, Earlier, Fault, FaultKind, MapFence, Passed, Site, SourceLine, Trap, Unfenced,
    Unwritten,
};
use crate::machine::{Cluster, Launch, Warp, slot_name};
use crate::memory::race::Seat;

use super::words::{self, Words};

/// A fault with its place.
pub(crate) fn locate(launch: &Launch<'_>, trap: &Trap, block: [u32; 3], warp: &Warp) -> Fault {
    let pc = trap.pc.unwrap_or(warp.pc);
    let origin = origin(launch, pc);
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
        detail: named(launch, detail(launch, trap, warp)),
        findings: Vec::new(),
    }
}

/// A text with the kernel's names for the addresses in it.
pub(super) fn named(launch: &Launch<'_>, text: String) -> String {
    match launch.names {
        Some(names) => names.named(&text, launch.dynamic_offset()),
        None => text,
    }
}

/// Where an instruction comes from.
pub(super) fn origin(launch: &Launch<'_>, pc: u32) -> Origin {
    launch.code.origins.get(pc as usize).copied().unwrap_or_default()
}

/// Names the block that issued the copy concerned, where it is another one.
pub(crate) fn name_block(trap: &mut Trap, cluster: &Cluster, block: usize) {
    let from = trap.copy.and_then(|issuer| flight::issued_elsewhere(cluster, block, issuer));
    trap.from = from.map(|from| cluster.blocks[from].id);
}

/// Where an instruction stands, and who executes it.
fn site(launch: &Launch<'_>, pc: u32, agent: String) -> Site {
    let origin = origin(launch, pc);
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
    let words = Words::of(launch);
    match (trap.kind, trap.other, trap.copy) {
        (FaultKind::ProxyFence, ..) => {
            Some(trap.map_fence.map_or("fence.proxy.async", MapFence::name))
        }
        (FaultKind::WgmmaFence, ..) => Some("wgmma.fence"),
        (FaultKind::TensorFence, ..) => Some("tcgen05.fence"),
        (_, Some(Earlier { by, pc: other_pc, .. }), _) => Some(match by {
            By::Lane { block, warp: other, .. } if (block, other) == warp.seat() => {
                words.choose("bar.warp.sync", "sync()")
            }
            By::Lane { block, warp: other, .. } if block == warp.block => {
                meeting(launch, [other, warp.index])
            }
            By::Warp(other) => meeting(launch, [other, warp.index]),
            By::Lane { .. } | By::Start { .. } => words.choose(
                "barrier.cluster.arrive and barrier.cluster.wait",
                "cluster::arrive() and cluster::wait()",
            ),
            By::Elsewhere { .. } => words.choose(
                "a release and an acquire in the scope .gpu",
                "an atomic operation with .release() and one with .acquire()",
            ),
            By::Copy => words.wait_of(&launch.code.insts[other_pc as usize].op),
        }),
        (_, _, Some((_, pc))) => Some(words.wait_of(&launch.code.insts[pc as usize].op)),
        (_, None, None) => None,
    }
}

/// Where two warps of a block meet.
fn meeting(launch: &Launch<'_>, warps: [u32; 2]) -> &'static str {
    let kiln = if words::same_part(launch, warps) { "sync()" } else { ".arrive() and .wait()" };
    Words::of(launch).choose("bar.sync", kiln)
}

/// The kernel's source line of an instruction.
pub(super) fn source_line(
    launch: &Launch<'_>,
    (file, line, column): (u32, u32, u32),
) -> Option<SourceLine> {
    let name = || launch.files.iter().find(|(i, _)| *i == file).map(|(_, name)| name.clone());
    (line > 0).then(|| SourceLine { file: name().unwrap_or_default(), line, column })
}

/// Whether an mbarrier tells when an instruction has written shared memory.
fn is_copy(op: &Op) -> bool {
    matches!(op, Op::Bulk(BulkCopy::Bytes(_) | BulkCopy::Tensor(_) | BulkCopy::Store(_)))
}

/// What happened, with all that took part.
fn detail(launch: &Launch<'_>, trap: &Trap, warp: &Warp) -> String {
    let mut text = trap.detail.clone();
    if let (FaultKind::Trap, Some(lane)) = (trap.kind, trap.lane)
        && let Some(says) = words::check(launch, trap.pc.unwrap_or(warp.pc), lane, warp)
    {
        text = says;
    }
    if let Some(slot) = trap.slot {
        let name = slot_name(launch.code, slot).unwrap_or("an operand");
        text = format!("register `{name}` {text}");
    }
    if let Some(load) = trap.unwritten {
        text.push_str(&never_written(launch, load, trap.later));
    }
    if let Some(ByZero { pc, lanes, dividend }) = trap.by_zero {
        let (lane, place) = (lanes.trailing_zeros(), words::place(launch, pc));
        let _ = write!(text, "; lane {lane} last divided {dividend} by 0 {place}");
    }
    if let (FaultKind::ProxyFence, Some(Earlier { pc, .. })) = (trap.kind, trap.other) {
        let (who, place) = (other_agent(launch, trap, warp), words::place(launch, pc));
        let _ = write!(text, ", which {who} wrote {place}, and {}", between_proxies(trap));
    } else if let Some(other) = trap.other {
        text.push_str(&earlier(launch, other, (warp.seat(), trap.passed.is_some())));
        if let (Some(Passed { pc, parity, .. }), By::Lane { warp: reader, .. }) =
            (trap.passed, other.by)
        {
            let (place, parity) = (words::place(launch, pc), u8::from(parity));
            let _ = write!(
                text,
                "; warp {reader} had seen phase parity {parity} of the copy's mbarrier end, and waited {place} for that one again: for the wrong phase?"
            );
        }
    }
    if let Some(Unfenced { warp, lane, pc, did, missing }) = trap.unfenced {
        let place = words::place(launch, pc);
        let _ = write!(
            text,
            ", which lane {lane} of warp {warp} {did}, {place}, and that thread {missing}"
        );
    }
    if let Some(copy) = trap.copy {
        text.push_str(&under_way(launch, copy, trap, warp));
    }
    if let Some(pc) = trap.product {
        let _ = write!(text, "; it was issued {}", words::place(launch, pc));
    }
    if let Some(pc) = trap.touched {
        let _ = write!(text, ", {}", words::place(launch, pc));
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
    let (place, lane, address) = (words::place(launch, load.pc), load.lane, load.address);
    let named = launch.names.filter(|_| load.place == Place::Shared);
    let at = named.and_then(|names| names.place_at(address, launch.dynamic_offset()));
    let at = at.unwrap_or_else(|| format!("{address:#x}"));
    let text =
        format!("; bytes never written were last loaded {from}{place}, by lane {lane} at {at}");
    let Some((pc, other)) = later else { return text };
    let place = words::place(launch, pc);
    let barrier = Words::of(launch).choose("barrier", "`sync()`");
    if is_copy(&launch.code.insts[pc as usize].op) {
        format!(
            "{text}; an asynchronous copy that warp {other} issues {place} writes shared memory that this warp had read: is a wait for its mbarrier missing before the load, or is it for another phase?"
        )
    } else {
        format!(
            "{text}; warp {other} writes shared memory that this warp had read, {place}, without a barrier between: is a {barrier} missing before the load?"
        )
    }
}

/// The earlier access of a race with one of a warp, and what is missing between, unless it is `explained` otherwise.
fn earlier(
    launch: &Launch<'_>,
    Earlier { pc, by, wrote }: Earlier,
    (this, explained): (Seat, bool),
) -> String {
    let (place, words) = (words::place(launch, pc), Words::of(launch));
    let (of, warp, lane) = match by {
        By::Lane { block, warp, lane } => (block, warp, Some(lane)),
        By::Warp(warp) => (this.0, warp, None),
        By::Elsewhere { block: [x, y, z], warp, lane } => {
            let what = if wrote { "wrote" } else { "read" };
            let order = words.choose(
                "there a release in scope `.gpu` has to follow (such as `fence.acq_rel.gpu` and an atomic operation on a flag), and here an acquire of the same flag has to come before",
                "blocks run in any order; to order the two, that block has to change a flag after its access, with `.release()`, and this one to see the change before its own, with `.acquire()`, both by atomic operations",
            );
            return format!(
                ", which lane {lane} of warp {warp} of block ({x}, {y}, {z}) {what} {place}, and nothing orders that before this instruction: {order}"
            );
        }
        By::Start { block } => {
            let meeting = words.choose("`barrier.cluster.arrive` and `.wait`", "`cluster::sync()`");
            return format!(
                " of block {block} of the cluster, which may not have started: is a {meeting} missing at the start of the kernel?"
            );
        }
        By::Copy if bulk::is_store(&launch.code.insts[pc as usize].op) => {
            let wait = words
                .choose("`cp.async.bulk.wait_group`, without `.read`", "`tma::store_wait_written`");
            return format!(
                ", which an asynchronous copy writes that was issued {place}: its thread has to wait until it has written ({wait}), and this thread to synchronise with that one"
            );
        }
        By::Copy => {
            let what = if wrote { "wrote" } else { "read" };
            let products = matches!(launch.code.insts[pc as usize].op, Op::Tcgen05(_));
            let operation = if products { "a `tcgen05` operation" } else { "an asynchronous copy" };
            return format!(
                ", which {operation} {what} that was issued {place}, and this warp neither waited for its mbarrier nor synchronised with who did"
            );
        }
    };
    if !wrote && matches!(launch.code.insts[pc as usize].op, Op::Bulk(BulkCopy::Wait { .. })) {
        return format!(
            ", which an asynchronous copy of warp {warp} read until the wait {place}, and no barrier lies between that wait and this instruction"
        );
    }
    let what = if wrote { "wrote" } else { "read" };
    match lane {
        Some(lane) if (of, warp) == this => {
            let meeting = words.choose("bar.warp.sync", "sync()");
            format!(
                ", which lane {lane} of this warp {what} {place}, and the two lanes have not met since: is a `{meeting}` missing between?"
            )
        }
        _ if of == this.0 => {
            let missing = match words {
                Words::Ptx => "",
                Words::Kiln if explained => "",
                Words::Kiln if words::same_part(launch, [warp, this.1]) => {
                    ": is a `sync()` missing between?"
                }
                Words::Kiln => {
                    "; the two run different partitions: is an `.arrive()` and a `.wait()` on a barrier missing between?"
                }
            };
            let part = words::partition(launch, &[warp]);
            format!(", which warp {warp}{part} {what} {place}, without a barrier between{missing}")
        }
        _ => format!(
            ", which warp {warp} of block {of} of the cluster {what} {place}, and nothing orders that before this instruction: is a {}, or an arrival at an mbarrier, missing between?",
            words.choose("cluster barrier", "`cluster::sync()`")
        ),
    }
}

/// An operation in flight that a warp meets: who issued it, and how to wait for it.
fn under_way(launch: &Launch<'_>, (other, pc): (u32, u32), trap: &Trap, warp: &Warp) -> String {
    let place = words::place(launch, pc);
    let op = &launch.code.insts[pc as usize].op;
    let words = Words::of(launch);
    let mut advice = words.advice(op).to_owned();
    if let Some(Passed { pc, parity, .. }) = trap.passed {
        let (before, now) = (u8::from(parity), u8::from(!parity));
        let place = words::place(launch, pc);
        let _ = write!(
            advice,
            ", for phase parity {now}; the last wait of this warp, {place}, was for {before}"
        );
    }
    if trap.from.is_none() && other != warp.index && !matches!(op, Op::Wgmma(Wgmma::Mma(_))) {
        let barrier = words.choose("barrier", "`sync()`");
        let _ = write!(
            advice,
            "; where the copy refills what this warp still uses, is a {barrier} missing before that copy?"
        );
    }
    let block = trap.from.map(|[x, y, z]| format!(" of block ({x}, {y}, {z})")).unwrap_or_default();
    format!("; warp {other}{block} issued it {place}: {advice}")
}
