//! `tcgen05` operations in flight, and the commits that signal when they are done (PTX ISA, "`tcgen05.commit`").
//!
//! A commit arrives at its mbarrier when every earlier operation of its thread is over. It does so as late as the program's own
//! waits permit: when a thread waits for the phase that the arrival completes, or nothing else can run.

use crate::code::tcgen05::Kind;
use crate::code::{Address, W};
use crate::exec::bulk::{self, Spot};
use crate::exec::memory::addresses;
use crate::exec::{barrier, memory::hazards};
use crate::fault::{FaultKind, Run, Trap};
use crate::machine::{Context, SHARED_WINDOW, WINDOW_SHIFT, Warp};
use crate::memory::race::{Clock, Races, Touch};

/// A thread that issues operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Thread {
    pub(crate) block: usize,
    pub(crate) warp: u32,
    pub(crate) lane: usize,
}

/// What an operation does, as far as its order after others depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Product {
        kind: Kind,
        rows: u32,
        columns: u32,
        /// `.ws`
        stationary: bool,
        /// `.sp`
        sparse: bool,
        /// The address of D.
        d: u32,
    },
    Copy,
    Shift,
}

impl Work {
    pub(super) const fn text(self) -> &'static str {
        match self {
            Work::Product { .. } => "`tcgen05.mma`",
            Work::Copy => "`tcgen05.cp`",
            Work::Shift => "`tcgen05.shift`",
        }
    }
}

/// What operations have in common that need not be told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) thread: Thread,
    pub(crate) work: Work,
    /// The number of the thread among those that issue operations, for the race detector.
    pub(crate) agent: u32,
}

/// An operation in flight.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) number: u32,
    pub(crate) signature: u32,
    pub(crate) pc: u32,
    /// What it reads of the shared memory of blocks, as numbers of 16 bytes.
    holds: Vec<(usize, Vec<u32>)>,
}

/// A commit that has not arrived.
#[derive(Debug)]
struct Commit {
    thread: Thread,
    pc: u32,
    /// The last operation that it waits for; 0 for none.
    last: u32,
    /// Blocks and words of mbarriers.
    barriers: Vec<(usize, usize)>,
    /// What the thread's warp did before.
    released: Clock,
}

/// The operations of a cluster's tensor cores.
#[derive(Debug, Default)]
pub(crate) struct Operations {
    /// How many there were; they are numbered from 1.
    issued: u32,
    signatures: Vec<Signature>,
    threads: Vec<Thread>,
    /// In order of issue.
    pending: Vec<Pending>,
    commits: Vec<Commit>,
    /// Commits that arrived at mbarriers of other blocks.
    afar: Vec<Afar>,
}

/// A commit that arrived at an mbarrier of a block other than its thread's.
#[derive(Debug)]
struct Afar {
    at: (usize, usize),
    /// The index of its thread, and its last operation.
    agent: u32,
    last: u32,
    pc: u32,
}

impl Operations {
    pub(crate) fn reset(&mut self) {
        self.issued = 0;
        self.signatures.clear();
        self.threads.clear();
        self.pending.clear();
        self.commits.clear();
        self.afar.clear();
    }

    pub(crate) fn signature(&self, index: u32) -> &Signature {
        &self.signatures[index as usize]
    }

    /// The operation of a number, if it is in flight.
    pub(crate) fn under_way(&self, number: u32) -> Option<&Pending> {
        let index = self.pending.binary_search_by_key(&number, |pending| pending.number).ok()?;
        Some(&self.pending[index])
    }

    /// The index of a signature.
    fn sign(&mut self, thread: Thread, work: Work) -> u32 {
        let agent = self.agent(thread);
        let signature = Signature { thread, work, agent };
        let index = self.signatures.iter().position(|known| *known == signature);
        let index = index.unwrap_or_else(|| {
            self.signatures.push(signature);
            self.signatures.len() - 1
        });
        u32::try_from(index).expect("a kernel has few products")
    }

    fn agent(&mut self, thread: Thread) -> u32 {
        let index = self.threads.iter().position(|known| *known == thread);
        let index = index.unwrap_or_else(|| {
            self.threads.push(thread);
            self.threads.len() - 1
        });
        u32::try_from(index).expect("a cluster has few threads")
    }

    /// Issues an operation: its number, and the index of its signature.
    pub(super) fn issue(&mut self, thread: Thread, work: Work) -> (u32, u32) {
        self.issued += 1;
        (self.issued, self.sign(thread, work))
    }

    /// What is missing for an operation to be over.
    pub(super) fn missing(&self, number: u32) -> String {
        let Some(pending) = self.under_way(number) else { return "it is over".to_owned() };
        let thread = self.signature(pending.signature).thread;
        let commit = self.commits.iter().find(|c| c.thread == thread && c.last >= number);
        match commit.and_then(|commit| commit.barriers.first()) {
            None => {
                "a `tcgen05.commit` of its thread and a wait for the mbarrier are missing before"
                    .to_owned()
            }
            Some(&(block, word)) => {
                let offset = 8 * u32::try_from(word).expect("shared memory is small");

                format!(
                    "nobody has waited for the mbarrier at shared address {:#x} of its `tcgen05.commit`",
                    Spot { block, offset }.address()
                )
            }
        }
    }

    /// Whether a commit has still to arrive anywhere.
    #[inline]
    pub(crate) fn any_commits(&self) -> bool {
        !self.commits.is_empty()
    }
}

/// The thread that issues.
pub(super) fn thread(cx: &Context<'_>, warp: &Warp, lane: usize) -> Thread {
    Thread { block: cx.block, warp: warp.index, lane }
}

/// Notes an operation as in flight; `reads` is what it reads of shared memory, by block, in units of 16 bytes.
pub(super) fn depart(
    cx: &mut Context<'_>,
    warp: &Warp,
    (number, signature): (u32, u32),
    reads: Vec<(usize, Vec<u32>)>,
) {
    let agent = cx.cluster.tensor.signature(signature).agent;
    let epoch = Races::operation(agent, number, warp.pc);
    for (block, units) in &reads {
        cx.cluster.blocks[*block].shared.hold_units(units, 1, (warp.index, warp.pc));
        cx.cluster.races.read_by(epoch, warp.accessor(), (*block, units.iter().copied()));
    }
    cx.cluster.tensor.pending.push(Pending { number, signature, pc: warp.pc, holds: reads });
}

/// Checks what an operation reads of shared memory, for the warp that issues it: who wrote it has synchronised with
/// it since, after a `fence.proxy.async` if it was an ordinary write.
pub(super) fn reads(
    cx: &mut Context<'_>,
    (warp, lane): (&Warp, usize),
    (block, units): (usize, &[u32]),
    name: &str,
) -> Run<()> {
    let read = cx.cluster.races.read_units((warp.accessor(), block, Touch::Read), lane, units);
    read.or_else(|conflict| {
        let mut trap = Trap::new(FaultKind::Race, format!("`{name}` reads shared memory"));
        trap.other = Some(conflict.earlier);
        cx.found(trap)
    })?;
    hazards::fenced_units(cx, warp, block, units)
}

/// `tcgen05.commit`
pub(super) fn commit(
    cx: &mut Context<'_>,
    warp: &Warp,
    (address, multicast): (&Address, Option<W>),
    lane: usize,
) -> Run<()> {
    let at = addresses(warp, address, 1 << lane)?[lane];
    // Compilers widen the address of shared memory, and use it as a generic one: the hardware reads its low half.
    let at = match at >> WINDOW_SHIFT << WINDOW_SHIFT {
        0 => at,
        SHARED_WINDOW => at & u64::from(u32::MAX),
        _ => {
            let detail = "the mbarrier of a `tcgen05.commit` outside shared memory";
            return Err(Trap::new(FaultKind::WrongSpace, detail).address(at));
        }
    };
    let spot = bulk::spot(cx, at, (8, 8), "the mbarrier of a `tcgen05.commit`")?;
    let word = spot.offset as usize / 8;
    let barriers = match multicast {
        None => vec![(spot.block, word)],
        Some(mask) => {
            let mask = bulk::word(warp, mask, lane, "names the blocks of a multicast")? & 0xFFFF;
            let blocks = cx.cluster.blocks.len();
            if mask == 0 || mask >> blocks != 0 {
                let detail =
                    format!("a multicast to the blocks {mask:#06x} of a cluster of {blocks}");
                return Err(Trap::new(FaultKind::IllegalOperand, detail));
            }
            (0..blocks).filter(|b| mask >> b & 1 != 0).map(|block| (block, word)).collect()
        }
    };
    for at in &barriers {
        barrier::transactions(cx, *at)?;
        barrier::init::seen(cx, *at, "a `tcgen05.commit`")?;
    }
    let thread = thread(cx, warp, lane);
    let operations = &cx.cluster.tensor;
    let own = |p: &&Pending| operations.signature(p.signature).thread == thread;
    let last = operations.pending.iter().rev().find(own).map_or(0, |pending| pending.number);
    let mut released = Clock::default();
    // A commit fences what comes before it.
    cx.cluster.races.fence_tensor_before(warp.threads(1 << lane));
    cx.cluster.races.release(warp.threads(1 << lane), &mut released);
    if let Some(trace) = &mut cx.cluster.trace {
        for at in &barriers {
            trace.commits(*at);
        }
    }
    for (block, _) in &barriers {
        // Who waits for the mbarrier looks again.
        cx.cluster.blocks[*block].events += 1;
    }
    cx.cluster.tensor.commits.push(Commit { thread, pc: warp.pc, last, barriers, released });
    Ok(())
}

/// How many commits have still to arrive at an mbarrier.
pub(crate) fn arrivals(cx: &Context<'_>, at: (usize, usize)) -> u32 {
    let commits = cx.cluster.tensor.commits.iter().flat_map(|commit| &commit.barriers);
    u32::try_from(commits.filter(|barrier| **barrier == at).count()).expect("few commits")
}

/// This many of the commits arrive at an mbarrier, in the order of issue; with each all earlier ones of its thread arrive too.
pub(crate) fn arrive(cx: &mut Context<'_>, at: (usize, usize), count: u32) -> Run<()> {
    for _ in 0..count {
        let mut commits = cx.cluster.tensor.commits.iter();
        let Some(index) = commits.position(|commit| commit.barriers.contains(&at)) else {
            return Ok(());
        };
        let thread = cx.cluster.tensor.commits[index].thread;
        let all = std::mem::take(&mut cx.cluster.tensor.commits);
        let (now, later): (Vec<_>, Vec<_>) =
            all.into_iter().enumerate().partition(|(i, c)| *i <= index && c.thread == thread);
        cx.cluster.tensor.commits = later.into_iter().map(|(_, commit)| commit).collect();
        for (_, commit) in now {
            land(cx, &commit).map_err(|trap| trap.at(commit.pc))?;
        }
    }
    Ok(())
}

/// Nothing else can run: every commit arrives. Whether there was any.
pub(crate) fn stuck(cx: &mut Context<'_>) -> Run<bool> {
    let commits = std::mem::take(&mut cx.cluster.tensor.commits);
    for commit in &commits {
        land(cx, commit).map_err(|trap| trap.at(commit.pc))?;
    }
    Ok(!commits.is_empty())
}

/// A commit arrives: what it waited for is over.
fn land(cx: &mut Context<'_>, commit: &Commit) -> Run<()> {
    let Operations { pending, signatures, .. } = &mut cx.cluster.tensor;
    let done = |p: &Pending| {
        p.number <= commit.last && signatures[p.signature as usize].thread == commit.thread
    };
    let (over, rest): (Vec<_>, Vec<_>) = std::mem::take(pending).into_iter().partition(done);
    *pending = rest;
    for (block, units) in over.iter().flat_map(|pending| &pending.holds) {
        cx.cluster.blocks[*block].shared.let_units_go(units);
    }
    let agent = cx.cluster.tensor.agent(commit.thread);
    for &at in &commit.barriers {
        if cx.cluster.blocks[at.0].left {
            let detail = format!(
                "a `tcgen05.commit` arrives at an mbarrier of block {} of the cluster, which has left the kernel",
                at.0
            );
            cx.found(Trap::new(FaultKind::AsyncInFlight, detail))?;
            continue;
        }
        let mut known = commit.released.clone();
        known.completed(agent, commit.last);
        if at.0 != commit.thread.block {
            let (last, pc) = (commit.last, commit.pc);
            cx.cluster.tensor.afar.push(Afar { at, agent, last, pc });
        }
        if let Some(trace) = &mut cx.cluster.trace {
            trace.committed(at);
        }
        barrier::arrive_once(cx, (commit.thread.block, at), &known)?;
    }
    Ok(())
}

/// An mbarrier ends: no commit may have still to arrive at it.
pub(crate) fn unused(cx: &Context<'_>, at: (usize, usize)) -> Run<()> {
    let commit = cx.cluster.tensor.commits.iter().find(|c| c.barriers.contains(&at));
    let Some(commit) = commit else { return Ok(()) };
    let offset = 8 * u32::try_from(at.1).expect("shared memory is small");
    let address = Spot { block: at.0, offset }.address();
    let detail = format!(
        "the mbarrier at shared address {address:#x} ends, and a `tcgen05.commit` has still to arrive at it"
    );
    let mut trap = Trap::new(FaultKind::AsyncInFlight, detail).address(address.into());
    trap.product = Some(commit.pc);
    cx.found(trap)
}

/// The commits that have still to arrive at an mbarrier do not.
pub(crate) fn abandon(cx: &mut Context<'_>, at: (usize, usize)) {
    for commit in &mut cx.cluster.tensor.commits {
        commit.barriers.retain(|barrier| *barrier != at);
    }
}

/// The executing block is about to be gone: no operation may read its shared memory or use its tensor memory any more, and no commit may
/// have still to arrive.
pub(super) fn leave(cx: &Context<'_>) -> Run<()> {
    arrived(cx)?;
    let operations = &cx.cluster.tensor;
    let own = |pending: &&Pending| {
        let thread = operations.signature(pending.signature).thread;
        thread.block == cx.block || pending.holds.iter().any(|(block, _)| *block == cx.block)
    };
    let Some(pending) = operations.pending.iter().find(own) else { return Ok(()) };
    let signature = operations.signature(pending.signature);
    let missing = operations.missing(pending.number);
    let detail = format!(
        "the block leaves the kernel while a {} is under way: {missing}",
        signature.work.text()
    );
    let mut trap = Trap::new(FaultKind::AsyncInFlight, detail);
    trap.product = Some(pending.pc);
    cx.found(trap)
}

/// The executing block knows of all commits that arrived at its mbarriers.
fn arrived(cx: &Context<'_>) -> Run<()> {
    let unknown = |afar: &&Afar| {
        afar.at.0 == cx.block
            && !cx.cluster.races.block_knows_completed(cx.block, afar.agent, afar.last)
    };
    let Some(afar) = cx.cluster.tensor.afar.iter().find(unknown) else { return Ok(()) };
    let offset = 8 * u32::try_from(afar.at.1).expect("shared memory is small");
    let address = Spot { block: afar.at.0, offset }.address();
    let detail = format!(
        "the block leaves the kernel, and nothing orders that behind the `tcgen05.commit` of another block that arrives at its mbarrier at shared address {address:#x}: a wait for it, or a `barrier.cluster.arrive` and `.wait` at the end of the kernel, is missing"
    );
    let mut trap = Trap::new(FaultKind::Race, detail).address(address.into());
    trap.product = Some(afar.pc);
    cx.found(trap)
}
