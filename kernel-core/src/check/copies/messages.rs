//! What is said of memory that a copy in flight needs.

use std::collections::{BTreeMap, BTreeSet};

use super::{Flight, Slot, Slots, Tile, Until};
use crate::{
    diag::{Code, Diagnostic},
    elaborate::Written,
    ir::{
        Access, Announcement, BulkKind, ClusterOp, CopyOp, Does, Kernel, Memory, Op, Region, Stmt,
        StmtKind, SyncOp, TmaKind, Value,
    },
    loc::Loc,
};

/// What starts a copy.
struct Started {
    /// In the words of a headline.
    what: &'static str,
    /// The section of the manual.
    section: &'static str,
    /// The barrier that it completes on.
    barrier: Option<Value>,
    /// It runs once: it stands in no loop, and is not written out several times.
    once: bool,
}

pub(super) struct Refusals<'k> {
    kernel: &'k Kernel,
    slots: &'k Slots<'k>,
    written: &'k Written,
    started: BTreeMap<Loc, Started>,
    /// How often each barrier expects bytes, as far as it is known which one does.
    expects: BTreeMap<Slot, u32>,
    /// The statements of pipelined loops, which take no waits for groups.
    pipelined: BTreeSet<Loc>,
    /// The barriers that statements have waited on so far.
    waited: BTreeSet<Slot>,
    pub(super) found: Vec<Diagnostic>,
}

impl<'k> Refusals<'k> {
    pub(super) fn of(kernel: &'k Kernel, slots: &'k Slots<'k>, written: &'k Written) -> Self {
        let mut refusals = Refusals {
            kernel,
            slots,
            written,
            started: BTreeMap::new(),
            expects: BTreeMap::new(),
            pipelined: BTreeSet::new(),
            waited: BTreeSet::new(),
            found: Vec::new(),
        };
        refusals.read(&kernel.body, true);
        refusals
    }

    fn read(&mut self, region: &Region, once: bool) {
        let pipelined = region.staged().is_some();
        for stmt in &region.stmts {
            if pipelined {
                self.pipelined.insert(stmt.loc);
                let inner = stmt.kind.regions().into_iter();
                inner.for_each(|inner| {
                    inner.each_stmt(&mut |stmt| _ = self.pipelined.insert(stmt.loc));
                });
            }
            let once = once && !matches!(stmt.kind, StmtKind::For { .. } | StmtKind::Loop { .. });
            stmt.kind.regions().into_iter().for_each(|inner| self.read(inner, once));
            let StmtKind::Op { op, args, result } = &stmt.kind else { continue };
            let effects = self.kernel.effects(op, args, *result);
            if let Some(Announcement::Expect(barrier)) = effects.announces
                && let Some(slot) = self.slots.slot(barrier)
            {
                *self.expects.entry(slot).or_default() += 1;
            }
            let Some((what, section)) = words(op) else { continue };
            let barrier = effects.accesses.iter().find_map(|access| access.done.barrier());
            let started = Started { what, section, barrier, once };
            self.started.entry(stmt.loc).and_modify(|known| known.once = false).or_insert(started);
        }
    }

    /// The next statement in the order of the text.
    pub(super) fn comes_to(&mut self, stmt: &Stmt) {
        let StmtKind::Op { op, args, result } = &stmt.kind else { return };
        for wait in self.kernel.effects(op, args, *result).waits {
            if let Some(barrier) = wait.barrier() {
                self.waited.extend(self.slots.slot(barrier));
            }
        }
    }

    /// A statement accesses memory that a copy in flight needs.
    pub(super) fn used(&mut self, access: &Access, stmt: &Stmt, flight: &Flight) {
        let at = self.place(access, stmt);
        let Some(started) = self.started.get(&flight.at) else { return };
        // One wait mends all uses of a copy.
        let is_same = |place: &(Loc, String)| place.0 == flight.at;
        if self.found.iter().any(|one| one.primary == at || one.secondary.iter().any(is_same)) {
            return;
        }
        let does = match access.does {
            Does::Reads => "read",
            Does::Writes => "written",
        };
        let still = if flight.writes { "write" } else { "read" };
        let headline =
            format!("shared memory is {does} while {} may still {still} it", started.what);
        let (required, help) = match flight.until {
            Until::Barrier(slot) => {
                let name = started.barrier.and_then(|barrier| self.name(barrier));
                let spelled = name.as_ref().map(|name| format!("`{name}`"));
                let spelled = spelled.unwrap_or_else(|| "its barrier".to_owned());
                let first = self.ends_first(started, slot);
                let help = name.filter(|_| first).map(|name| format!("{name}.wait(0);"));
                (format!("a wait on {spelled} after the copy starts"), help)
            }
            Until::Signal => ("a signal of the block that receives it".to_owned(), None),
            Until::BulkGroup => (
                "a wait for the store after it starts".to_owned(),
                Some("tma::store_wait(0);".to_owned()),
            ),
            Until::CpAsyncGroup => {
                let can_stand = !self.pipelined.contains(&stmt.loc);
                let help = can_stand.then(|| "copy_async_wait_all(); sync();".to_owned());
                ("a wait for the copy after it starts".to_owned(), help)
            }
        };
        let here = if flight.at == stmt.loc {
            "an earlier iteration starts the copy here"
        } else {
            "the copy starts here"
        };
        let why = why(flight, started.section);
        self.found.push(
            Diagnostic::new(Code::CopyInFlight, at, headline)
                .compare("", required, "none on any path")
                .place(flight.at, here)
                .why(why)
                .help_if(help),
        );
    }

    /// Where a statement names the memory.
    fn place(&self, access: &Access, stmt: &Stmt) -> Loc {
        let operands = self.kernel.operands.get(&stmt.loc);
        let StmtKind::Op { args, .. } = &stmt.kind else { return stmt.loc };
        let (Some(operands), Memory::Shared(window)) = (operands, access.memory) else {
            return stmt.loc;
        };
        let named = args.iter().zip(operands).find(|(arg, _)| **arg == window);
        named.map_or(stmt.loc, |(_, at)| *at)
    }

    /// Whether a copy is in the first phase of its barrier: a wait for parity 0 is for it.
    fn ends_first(&self, started: &Started, slot: Slot) -> bool {
        let known = matches!(slot.tile, Tile::Only | Tile::Known(_));
        let waited = self.waited.iter().any(|&waited| waited.meets(slot));
        let expected = self.expects.iter().filter(|(other, _)| other.meets(slot));
        known && started.once && !waited && expected.map(|(_, times)| times).sum::<u32>() == 1
    }

    /// A barrier by its name, or one of a ring by the name of the ring and its number.
    fn name(&self, barrier: Value) -> Option<String> {
        let of_ring = || {
            let &[ring, number] = self.slots.of_ring.get(barrier)?;
            let number = self.slots.constant(number);
            let number = number.map_or_else(|| "..".to_owned(), |number| number.to_string());
            Some(format!("{}[{number}]", self.written.name(ring)?))
        };
        self.written.name(barrier).or_else(of_ring)
    }
}

/// What starts a copy, in the words of a headline, and the section of the manual.
fn words(op: &Op) -> Option<(&'static str, &'static str)> {
    const TENSOR: &str = "cp.async.bulk.tensor";
    if let Op::Copy(CopyOp::Tma(tma)) = op {
        let what = match tma.kind {
            TmaKind::Load | TmaKind::Staged => "a TMA load",
            TmaKind::Store => "a TMA store",
            TmaKind::Reduce(_) => "a TMA reduction",
            TmaKind::Gather => "a gather",
            TmaKind::Scatter => "a scatter",
            TmaKind::Prefetch => return None,
        };
        Some((what, TENSOR))
    } else if let Op::Copy(CopyOp::Bulk(bulk)) = op {
        let what = match bulk.kind {
            BulkKind::Load | BulkKind::Store | BulkKind::Send => "a bulk copy",
            BulkKind::Reduce(_) => "a bulk reduction",
            BulkKind::Prefetch(_) => return None,
        };
        Some((what, "cp.async.bulk"))
    } else if let Op::Copy(CopyOp::Async(..)) = op {
        Some(("`copy_async`", "cp.async"))
    } else if let Op::Sync(SyncOp::Cluster(ClusterOp::TryCancel)) = op {
        Some(("`cluster::try_cancel`", "clusterlaunchcontrol.try_cancel"))
    } else {
        None
    }
}

/// Why the hardware wants a wait.
fn why(flight: &Flight, section: &str) -> String {
    match flight.until {
        Until::Barrier(_) => format!(
            "the copy writes shared memory some time after it starts; the phase of its barrier ends when all of its bytes are there (PTX ISA, \"{section}\")"
        ),
        Until::Signal => format!(
            "the copy reads shared memory some time after it starts; only the block that receives it can wait for it, and signals this one (PTX ISA, \"{section}\")"
        ),
        Until::BulkGroup => "the copy reads shared memory some time after it starts; after a wait for its group it has been read (PTX ISA, \"cp.async.bulk.wait_group\")".to_owned(),
        Until::CpAsyncGroup => format!(
            "each thread copies a part of the window some time after it starts the copy; a wait covers the thread's own part, and after `sync()` all parts are there (PTX ISA, \"{section}\")"
        ),
    }
}
