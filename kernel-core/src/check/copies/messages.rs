//! What is said of memory that a copy in flight needs.

use std::collections::{BTreeMap, BTreeSet};

use super::{Flight, Slot, Slots, Tile, Until};
use crate::{
    diag::{Code, Commit, Diagnostic, Lacking, Missing, Phase, Spot},
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

/// A use of memory that a copy in flight needs.
struct Used {
    /// The number of the statement, in the order of the text.
    number: usize,
    /// What is underlined.
    at: Loc,
    stmt: Loc,
    does: Does,
    flight: Flight,
    /// A wait in its place is for the first phase of the barrier.
    first: bool,
}

pub(super) struct Refusals<'k> {
    kernel: &'k Kernel,
    slots: &'k Slots<'k>,
    written: &'k Written,
    started: BTreeMap<Loc, Started>,
    /// How often each barrier expects bytes, as far as it is known which one does.
    expects: BTreeMap<Slot, u32>,
    /// The barriers that any statement waits on.
    awaited: BTreeSet<Slot>,
    /// The statements of pipelined loops, which take no waits for groups.
    pipelined: BTreeSet<Loc>,
    /// The barriers that statements have waited on so far.
    waited: BTreeSet<Slot>,
    /// How many statements have come so far.
    number: usize,
    /// When each of them came first.
    numbers: BTreeMap<Loc, usize>,
    found: Vec<Used>,
}

impl<'k> Refusals<'k> {
    pub(super) fn of(kernel: &'k Kernel, slots: &'k Slots<'k>, written: &'k Written) -> Self {
        let mut refusals = Refusals {
            kernel,
            slots,
            written,
            started: BTreeMap::new(),
            expects: BTreeMap::new(),
            awaited: BTreeSet::new(),
            pipelined: BTreeSet::new(),
            waited: BTreeSet::new(),
            number: 0,
            numbers: BTreeMap::new(),
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
            let waits = effects.waits.iter().filter_map(|wait| wait.barrier());
            self.awaited.extend(waits.filter_map(|barrier| self.slots.slot(barrier)));
            let Some((what, section)) = words(op) else { continue };
            let barrier = effects.accesses.iter().find_map(|access| access.done.barrier());
            let started = Started { what, section, barrier, once };
            self.started.entry(stmt.loc).and_modify(|known| known.once = false).or_insert(started);
        }
    }

    /// The next statement in the order of the text.
    pub(super) fn comes_to(&mut self, stmt: &Stmt) {
        self.number += 1;
        self.numbers.entry(stmt.loc).or_insert(self.number);
        let StmtKind::Op { op, args, result } = &stmt.kind else { return };
        for wait in self.kernel.effects(op, args, *result).waits {
            if let Some(barrier) = wait.barrier() {
                self.waited.extend(self.slots.slot(barrier));
            }
        }
    }

    /// A statement accesses memory that a copy in flight needs.
    pub(super) fn used(&mut self, access: &Access, stmt: &Stmt, flight: &Flight) {
        let Some(started) = self.started.get(&flight.at) else { return };
        let first = match flight.until {
            Until::Barrier(slot) => self.ends_first(started, slot),
            Until::Signal | Until::BulkGroup | Until::CpAsyncGroup => false,
        };
        self.found.push(Used {
            number: self.number,
            at: self.place(access, stmt),
            stmt: stmt.loc,
            does: access.does,
            flight: *flight,
            first,
        });
    }

    /// Whether a use comes after its copy in the text, and not in a later iteration only.
    fn is_after(&self, used: &Used) -> bool {
        self.numbers.get(&used.flight.at).is_some_and(|&started| started < used.number)
    }

    /// What is said: one message for each wait that is missing.
    pub(super) fn diagnostics(mut self) -> Vec<Diagnostic> {
        let mut found = std::mem::take(&mut self.found);
        // A wait before the first use after a copy mends those that come round as well.
        found.sort_by_key(|used| (!self.is_after(used), used.number));
        let mut told: BTreeSet<Flight> = BTreeSet::new();
        let mut places = BTreeSet::new();
        let mut said = Vec::new();
        for used in &found {
            if told.contains(&used.flight) || !places.insert(used.at) {
                continue;
            }
            // Copies that the same wait covers.
            let same = found.iter().filter(|other| {
                let until = match (other.flight.until, used.flight.until) {
                    (Until::Barrier(one), Until::Barrier(other)) => one.meets(other),
                    (Until::CpAsyncGroup, Until::CpAsyncGroup)
                    | (Until::BulkGroup, Until::BulkGroup)
                    | (Until::Signal, Until::Signal) => true,
                    (
                        Until::Barrier(_) | Until::CpAsyncGroup | Until::BulkGroup | Until::Signal,
                        _,
                    ) => false,
                };
                let started = self.numbers.get(&other.flight.at);
                until
                    && (started.is_some_and(|&at| at < used.number) || other.flight == used.flight)
            });
            let mut covered: Vec<Flight> = same.map(|other| other.flight).collect();
            covered.sort_by_key(|flight| self.numbers.get(&flight.at).copied());
            covered.dedup_by_key(|flight| flight.at);
            covered.retain(|flight| !told.contains(flight));
            let all = found.iter().map(|other| other.flight);
            told.extend(all.filter(|one| covered.iter().any(|flight| flight.at == one.at)));
            said.extend(self.diagnostic(used, &covered));
        }
        said
    }

    fn diagnostic(&self, used: &Used, covered: &[Flight]) -> Option<Diagnostic> {
        let flight = &used.flight;
        let started = self.started.get(&flight.at)?;
        let does = match used.does {
            Does::Reads => "read",
            Does::Writes => "written",
        };
        let still = if flight.writes { "write" } else { "read" };
        let headline =
            format!("shared memory is {does} while {} may still {still} it", started.what);
        let (required, lacking) = match flight.until {
            Until::Barrier(slot) => {
                let name = started.barrier.and_then(|barrier| self.name(barrier));
                let spelled = name.as_ref().map(|name| format!("`{name}`"));
                let spelled = spelled.unwrap_or_else(|| "its barrier".to_owned());
                let ring = self.kernel.barriers[slot.root].ring;
                let of_ring = ring.filter(|_| !matches!(slot.tile, Tile::Known(_)));
                let spells = |name: &String| of_ring.is_none() || name.contains('[');
                let lacking = name.filter(spells).map(|name| {
                    let barrier = match of_ring {
                        Some(_) => name.split('[').next().unwrap_or(&name).to_owned(),
                        None => name,
                    };
                    let alone = self.is_alone(slot) && (ring.is_none() || of_ring.is_some());
                    let commit = Commit::Done;
                    let first = used.first && of_ring.is_none();
                    Lacking::Phase(Phase { barrier, ring: of_ring, commit, first, alone })
                });
                (format!("a wait on {spelled} after the copy starts"), lacking)
            }
            Until::Signal => ("a signal of the block that receives it".to_owned(), None),
            Until::BulkGroup => (
                "a wait for the store after it starts".to_owned(),
                Some(Lacking::Text("tma::store_wait(0);".to_owned())),
            ),
            Until::CpAsyncGroup => {
                let can_stand = !self.pipelined.contains(&used.stmt);
                let lacking = can_stand.then_some(Lacking::CopyAsync);
                ("a wait for the copy after it starts".to_owned(), lacking)
            }
        };
        // A phase ends only after a copy, also in the first iteration.
        let of_phase = matches!(lacking, Some(Lacking::Phase(_)));
        let spot = if of_phase && !self.is_after(used) { Spot::After } else { Spot::Between };
        let missing =
            lacking.map(|what| Missing { what, after: flight.at, before: used.stmt, spot });
        let mut diagnostic = Diagnostic::new(Code::CopyInFlight, used.at, headline).compare(
            "",
            required,
            "none on any path",
        );
        for flight in covered {
            let here = if self.is_after(used) || flight.at != used.stmt {
                "the copy starts here"
            } else {
                "an earlier iteration starts the copy here"
            };
            diagnostic = diagnostic.place(flight.at, here);
        }
        Some(diagnostic.why(why(flight, started.section)).lacks(missing))
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

    /// Whether nothing waits on a barrier, and one arrival in the text belongs to each of its phases.
    fn is_alone(&self, slot: Slot) -> bool {
        let expected = self.expects.iter().filter(|(other, _)| other.meets(slot));
        !self.awaited.iter().any(|&awaited| awaited.meets(slot))
            && expected.map(|(_, times)| times).sum::<u32>() == 1
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
