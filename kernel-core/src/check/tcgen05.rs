//! The order of `tcgen05` operations among themselves and with accesses of threads to the same memory.
//!
//! One thread starts products and copies, and no thread waits for them. Until a wait covers them, nothing may write what they read, nor read
//! or write what they write. A wait covers what was committed to its barrier before, and so does a wait on a barrier at which a partition
//! arrives after such a wait. Copies and products run in order among themselves, and so do products of one kind and shape with the same
//! accumulator; other products need a wait between them (PTX ISA, "tcgen05 Memory Consistency Model: Pipelined instructions").
//!
//! Only what certainly has no wait is refused. A wait on a condition may be for what was started on that condition, or for an iteration
//! before the first; of tiles chosen at run time, a wait for one may be the one that is needed.
//!
//! The check follows the paths of a partition. For other partitions it asks only whether this one has waited for them at all before it reads
//! what they write. Which phase a wait is for is known only at run time, and the emulator checks that.

use std::collections::{BTreeMap, BTreeSet};

use self::{
    flight::{Does, Extent, Flight, Operand, Overlap, Places, Shape, When},
    messages::Refusals,
    state::{InFlight, State, behind_one},
};
use super::{
    signals::{ALL, Agent, Signals},
    slots::Slot,
    tensor_memory::{columns::Columns, left_factor::FirstRows},
};
use crate::{
    diag::{Diagnostic, Spot},
    elaborate::Written,
    ir::{
        Announcement, Barriers, By, Done, Kernel, Memory, Multiplied, Op, ProductOp, Stmt,
        StmtKind, Tcgen05, Value,
        flow::{self, Flow, Number, Part},
    },
    loc::Loc,
};

mod flight;
mod messages;
mod state;

/// The problems of a kernel whose layouts are all known.
pub(super) fn check(
    kernel: &Kernel,
    (rows, columns): (&FirstRows, &Columns),
    written: &Written,
) -> Vec<Diagnostic> {
    if kernel.tensor_memory.is_empty() {
        return Vec::new();
    }
    let places = Places::of(kernel, rows, columns);
    let signals = Signals::of(kernel);
    let mut order = Order {
        kernel,
        places: &places,
        signals: &signals,
        refusals: Refusals::of(kernel, &signals, &places, written),
        agent: ALL,
        started: Vec::new(),
        reads: BTreeMap::new(),
    };
    let left = match flow::solve(&mut order, &kernel.body, &Path::default()) {
        Ok(left) => left.unwrap_or_default(),
        Err(unsettled) => return vec![super::unknown(unsettled)],
    };
    order.others();
    order.ends(left.in_flight);
    order.refusals.found
}

/// What a partition has done on some path to a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Behind {
    waits: BTreeSet<Slot>,
    /// It has synchronised with others.
    met: bool,
    /// What it has written itself, and the barriers at which it has arrived since.
    stored: BTreeMap<Extent, BTreeSet<Barriers>>,
}

/// What holds at a place of a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Path {
    in_flight: InFlight,
    behind: Behind,
}

struct Order<'a> {
    kernel: &'a Kernel,
    places: &'a Places<'a>,
    signals: &'a Signals<'a>,
    refusals: Refusals<'a>,
    /// Who runs the statements.
    agent: Agent,
    /// What writes tensor memory.
    started: Vec<Flight>,
    /// The reads of tensor memory of each partition, with what it has done before.
    reads: BTreeMap<(Agent, Loc), (Extent, Behind, Number)>,
}

impl Order<'_> {
    /// What an operation starts, as each of its operands sees it.
    fn starts(&self, op: &Op, args: &[Value], at: Loc) -> Vec<Flight> {
        if let Op::Product(ProductOp::Tcgen05(started @ Tcgen05::Mma { multiplied, .. })) = op {
            return self.product((args, *multiplied), (self.agent, at), started.condition(args));
        }
        let Op::Product(ProductOp::Tcgen05(started @ Tcgen05::Copy { .. })) = op else {
            return Vec::new();
        };
        let when = When::of(started.condition(args));
        let does = [Does::Reads(Operand::Source), Does::Writes];
        let flights = does.into_iter().zip(args).filter_map(|(does, &window)| {
            let extent = self.places.extent(window)?;
            Some(Flight { at, shape: None, does, extent, when, agent: self.agent })
        });
        flights.collect()
    }

    /// What a product does to memory.
    fn product(
        &self,
        (args, multiplied): (&[Value], Multiplied),
        (agent, at): (Agent, Loc),
        condition: Option<Value>,
    ) -> Vec<Flight> {
        let when = When::of(condition);
        let shape = Shape::of(self.kernel, args, multiplied);
        let mut operands = vec![
            (args[0], Does::Reads(Operand::Left)),
            (args[1], Does::Reads(Operand::Right)),
            (args[2], Does::Writes),
        ];
        let more = match multiplied {
            Multiplied::Dense | Multiplied::Scaled(_) => Operand::Scales,
            Multiplied::Sparse => Operand::Metadata,
        };
        let others = &args[4..4 + multiplied.more()];
        operands.extend(others.iter().map(|&arg| (arg, Does::Reads(more))));
        let flight = |(window, does)| {
            let extent = self.places.extent(window)?;
            Some(Flight { at, shape, does, extent, when, agent })
        };
        operands.into_iter().filter_map(flight).collect()
    }

    /// Threads read or write tensor memory.
    fn thread(&mut self, (extent, stores): (&Extent, bool), loc: Loc, in_flight: &InFlight) {
        let against = |does| match does {
            Does::Writes => true,
            Does::Reads(_) => stores,
        };
        let hit = in_flight.flights.iter().filter(|(flight, state)| {
            // Which of several tiles it is, and which one a wait covers, is known only at run time.
            let counts = match extent.overlap(&flight.extent) {
                Overlap::No => false,
                Overlap::Perhaps => !in_flight.waited.contains(&flight.extent.memory),
                Overlap::Certain => true,
            };
            against(flight.does) && !state.others.excused && counts
        });
        // A write is the better message than a read of the same product.
        if let Some((flight, state)) = hit.max_by_key(|(flight, _)| flight.does) {
            self.refusals.access(stores, (flight, state), (loc, Spot::Between));
        }
    }

    /// Threads or copies write shared memory of this block. A pipelined loop waits before its copies.
    fn writes_shared(&mut self, window: Value, loc: Loc, in_flight: &InFlight) {
        if self.kernel.ty(window).shared().is_none_or(|window| window.remote) {
            return;
        }
        let Some(extent) = self.places.extent(window) else { return };
        let hit = in_flight.flights.iter().find(|(flight, state)| {
            !state.others.excused && extent.overlap(&flight.extent) == Overlap::Certain
        });
        if let Some((flight, state)) = hit {
            self.refusals.overwritten((flight, state), loc);
        }
    }

    /// The threads have waited on a barrier.
    fn awaited(&self, barrier: Value, path: &mut Path) {
        let Some(slot) = self.places.slot(barrier) else { return };
        path.behind.waits.insert(slot);
        path.in_flight.end(|state| {
            let over = self.signals.covers(self.agent, slot, state.commits.iter().copied());
            if !state.commits.is_empty() {
                state.missed = Some(barrier);
            }
            over
        });
    }

    /// The threads have synchronised with others.
    fn met(&self, agent: Agent, in_flight: &mut InFlight) {
        let over =
            |state: &mut State| self.signals.covers_meeting(agent, state.commits.iter().copied());
        in_flight.end(over);
    }

    /// Reads of what other partitions start, by a partition that has not waited for them.
    fn others(&mut self) {
        for ((agent, loc), (extent, behind, number)) in &self.reads {
            self.refusals.number = *number;
            if behind.met {
                continue;
            }
            let stored = behind.stored.iter();
            let stored: Vec<_> =
                stored.filter(|(stored, _)| extent.overlap(stored) != Overlap::No).collect();
            let missed = self.started.iter().find(|flight| {
                let commits = || self.signals.commits(flight.agent).iter().copied();
                let heard = |&wait: &Slot| {
                    let commits = commits().filter_map(|barrier| self.places.slot(barrier));
                    self.signals.covers(*agent, wait, commits)
                };
                // Nothing multiplies what this partition has written before it arrives.
                let untold = |told| !self.signals.awaits(flight.agent, told);
                let own = stored.iter().any(|(_, told)| untold(told));
                flight.agent != *agent
                    && !own
                    && extent.overlap(&flight.extent) != Overlap::No
                    && !behind.waits.iter().any(heard)
            });
            if let Some(flight) = missed {
                let commits = self.signals.commits(flight.agent);
                let state = State { by: commits.first().copied(), ..State::default() };
                self.refusals.access(false, (flight, &state), (*loc, Spot::Before));
            }
        }
    }

    /// What is in flight at the end, without a wait.
    fn ends(&mut self, mut left: InFlight) {
        self.met(ALL, &mut left);
        let left = left.flights.iter().find(|(flight, state)| {
            !state.others.excused
                && !self.signals.covers_meeting(flight.agent, state.commits.iter().copied())
        });
        if let Some((flight, state)) = left {
            self.refusals.end(flight, state);
        }
    }
}

impl Flow for Order<'_> {
    type State = Path;

    fn cross(&mut self, stmt: &Stmt, path: &mut Path) {
        let StmtKind::Op { op, args, result } = &stmt.kind else { return };
        for flight in self.starts(op, args, stmt.loc) {
            if flight.does == Does::Writes && !self.started.contains(&flight) {
                self.started.push(flight.clone());
            }
            let mut state = State::default();
            state.others.conditional = flight.when != When::Always;
            path.in_flight.flights.insert(flight, state);
        }
        let effects = self.kernel.effects(op, args, *result);
        for access in effects.writes().filter(|access| access.by == By::Threads) {
            if let Memory::TensorMemory(window) = access.memory {
                let stored = self.places.extent(window);
                path.behind.stored.extend(stored.map(|extent| (extent, BTreeSet::new())));
            }
        }
        match effects.announces {
            Some(Announcement::Commit { barrier, .. }) => {
                let Some(slot) = self.places.slot(barrier) else { return };
                for state in path.in_flight.flights.values_mut() {
                    state.commits.insert(slot);
                    state.by.get_or_insert(barrier);
                }
            }
            Some(Announcement::Arrive(barrier)) => {
                let root = self.places.slot(barrier).map(|slot| slot.root);
                path.behind.stored.values_mut().for_each(|told| told.extend(root));
            }
            Some(
                Announcement::Crew
                | Announcement::Named(_)
                | Announcement::Cluster
                | Announcement::Expect(_)
                | Announcement::CpAsyncGroup
                | Announcement::NextGrid,
            )
            | None => {}
        }
        for wait in &effects.waits {
            if let Some(barrier) = wait.barrier() {
                self.awaited(barrier, path);
            } else if wait.meets_others() {
                path.behind.met = true;
                self.met(self.agent, &mut path.in_flight);
            }
        }
    }

    fn join(&mut self, into: &mut Path, other: &Path) {
        let in_flight = std::mem::take(&mut into.in_flight);
        into.in_flight = in_flight.joined(other.in_flight.clone());
        into.behind.join(&other.behind);
    }

    fn meet(&mut self, before: &Path, paths: Vec<Path>) -> Option<Path> {
        let mut behind = Behind::default();
        for path in &paths {
            behind.join(&path.behind);
        }
        let paths = paths.into_iter().map(|path| path.in_flight);
        Some(Path { in_flight: behind_one(&before.in_flight, paths)?, behind })
    }

    fn next_iteration(&mut self, _: &StmtKind, entered: &Path, left: Path) -> Path {
        Path { in_flight: left.in_flight.later(&entered.in_flight), ..left }
    }

    fn behind_loop(&mut self, _: &StmtKind, _: &Path, left: Path) -> Path {
        Path { in_flight: left.in_flight.behind_iteration(), ..left }
    }

    fn runs(&self, kind: &StmtKind) -> Option<bool> {
        self.places.slots.runs(kind)
    }

    fn enter(&mut self, part: Part<'_>, before: &Path) -> Path {
        self.agent = self.signals.agent(part.at, part.index);
        before.clone()
    }

    fn behind_parts(&mut self, at: Loc, before: &Path, left: Vec<Option<Path>>) -> Option<Path> {
        self.agent = ALL;
        let mut behind = before.behind.clone();
        // All have reached its end.
        behind.met = true;
        let mut in_flight = InFlight::default();
        for (index, path) in left.into_iter().enumerate() {
            let mut part = path.map(|path| path.in_flight).unwrap_or_default();
            self.met(self.signals.agent(at, index), &mut part);
            in_flight = in_flight.joined(part);
        }
        Some(Path { in_flight, behind })
    }

    fn visit(&mut self, stmt: &Stmt, Path { in_flight, behind }: &Path, number: Number) {
        self.refusals.number = number;
        self.refusals.started.insert(stmt.loc);
        let StmtKind::Op { op, args, result } = &stmt.kind else { return };
        if let Op::Product(ProductOp::Tcgen05(Tcgen05::Mma { .. })) = op {
            for later in self.starts(op, args, stmt.loc) {
                let mut earlier = in_flight.flights.iter();
                let hit = earlier
                    .find(|(earlier, state)| !state.others.excused && later.collides(earlier));
                if let Some((earlier, state)) = hit {
                    self.refusals.product(&later, earlier, state);
                }
            }
        }
        for access in self.kernel.effects(op, args, *result).accesses {
            let writes = access.does == crate::ir::Does::Writes;
            match access.memory {
                Memory::TensorMemory(window) if access.by == By::Threads => {
                    let Some(extent) = self.places.extent(window) else { continue };
                    // What is only read may be read.
                    self.thread((&extent, writes), stmt.loc, in_flight);
                    if !writes {
                        let read = (extent, behind.clone(), number);
                        self.reads.insert((self.agent, stmt.loc), read);
                    }
                }
                Memory::Shared(window) if writes && access.done != Done::Pipeline => {
                    self.writes_shared(window, stmt.loc, in_flight);
                }
                Memory::Shared(_)
                | Memory::TensorMemory(_)
                | Memory::Tensor(_)
                | Memory::Address(_)
                | Memory::Registers(_) => {}
            }
        }
    }
}

impl Behind {
    fn join(&mut self, other: &Behind) {
        self.waits.extend(&other.waits);
        self.met |= other.met;
        for (extent, told) in &other.stored {
            self.stored.entry(extent.clone()).or_default().extend(told);
        }
    }
}
