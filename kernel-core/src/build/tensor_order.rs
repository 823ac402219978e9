//! The order of what the tensor cores do, and of what threads do to the same memory.
//!
//! One thread starts products and copies, and all go on. What they read may not be written, and what they write neither read nor written, until a
//! wait says that they are done: one for a barrier that a commit behind them arrives at, or for one at which somebody arrives who
//! has waited for that. Among themselves, copies and products run in order, and so do products of one kind and shape that add to the same sums;
//! other products need a wait between them (PTX ISA, "tcgen05 Memory Consistency Model: Pipelined instructions").
//!
//! A partition is followed along its ways. Of the others it is asked whether it has waited for them at all before it reads what they
//! write. Which phase a wait is for is known when the kernel runs: the emulator looks at that.

use std::collections::{BTreeMap, BTreeSet};

use self::{
    flight::{Does, Extent, Flight, Operand, Overlap, Places, Shape, Slot, When},
    refusal::Refusals,
    told::{ALL, Told},
};
use super::{left_factor::FirstRows, own_columns::Columns};
use crate::{
    diag::Diagnostic,
    ir::{
        BarrierOp, ClusterOp, Kernel, NamedOp, Op, Region, Scaled, Stmt, StmtKind, Tcgen05,
        TensorMemoryOp, Terminator, TmaKind, Value,
    },
    loc::Loc,
    schedule::{WALKED_AGAIN, nested_loops},
};

mod flight;
mod refusal;
mod told;

/// A partition, by its number.
type Agent = usize;

/// How far a flight has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    /// The barriers that a commit behind it arrives at.
    commits: BTreeSet<Slot>,
    /// One of them.
    by: Option<Value>,
    /// A wait since then that says nothing of it.
    missed: Option<Value>,
    /// On other ways to this place it has been waited for: on a condition on which it is started, perhaps.
    waited_elsewhere: bool,
}

/// What is under way on the way to a place of a partition.
type UnderWay = BTreeMap<Flight, State>;

/// The most walks of the body of a loop. What a commit and a wait do to a flight is settled after as many iterations as lie between its start and them.
const LOOKS: u32 = 4;

/// How the source names a value.
pub(super) type Named<'n> = &'n dyn Fn(Value) -> Option<String>;

/// What is wrong with the order of a kernel whose layouts are all known.
pub(super) fn check(
    kernel: &Kernel,
    (rows, columns): (&FirstRows, &Columns),
    named: Named<'_>,
) -> Vec<Diagnostic> {
    if kernel.tensor_memory.is_empty() {
        return Vec::new();
    }
    let places = Places::of(kernel, rows, columns);
    let told = Told::of(kernel);
    let mut walk = Walk {
        kernel,
        places: &places,
        told: &told,
        refusals: Refusals { kernel, told: &told, places: &places, named, found: Vec::new() },
        started: Vec::new(),
        reads: BTreeMap::new(),
        behind: BTreeMap::new(),
    };
    let left = walk.region(&kernel.body, ALL, UnderWay::new());
    walk.others();
    walk.ends(&left);
    walk.refusals.found
}

/// What a partition has done on some way to a place.
#[derive(Clone, Debug, Default)]
struct Behind {
    waits: BTreeSet<Slot>,
    /// It has met with others.
    met: bool,
    /// What it has written itself.
    stored: Vec<Extent>,
}

struct Walk<'a> {
    kernel: &'a Kernel,
    places: &'a Places<'a>,
    told: &'a Told<'a>,
    refusals: Refusals<'a>,
    /// What writes tensor memory.
    started: Vec<Flight>,
    /// The reads of tensor memory of each partition, with what it has done before.
    reads: BTreeMap<(Agent, Loc), (Extent, Behind)>,
    behind: BTreeMap<Agent, Behind>,
}

impl Walk<'_> {
    fn region(&mut self, region: &Region, agent: Agent, mut under_way: UnderWay) -> UnderWay {
        for stmt in &region.stmts {
            match &stmt.kind {
                StmtKind::Op { op, args, .. } => {
                    self.op(op, args, (agent, stmt.loc), &mut under_way);
                }
                StmtKind::If { then, otherwise, .. } => {
                    let other = self.region(otherwise, agent, under_way.clone());
                    let then = self.region(then, agent, under_way.clone());
                    under_way = either(&under_way, then, other);
                }
                StmtKind::For { body, .. } | StmtKind::Loop { body, .. } => {
                    under_way = self.iterations(&stmt.kind, body, agent, under_way);
                }
                StmtKind::Specialize { default, partitions, .. } => {
                    let before = std::mem::take(&mut under_way);
                    let others = partitions.iter().map(|partition| &partition.body);
                    for (number, body) in std::iter::once(default).chain(others).enumerate() {
                        let inner = self.told.agent(stmt.loc, number);
                        let behind = self.behind.get(&agent).cloned().unwrap_or_default();
                        self.behind.insert(inner, behind);
                        let left = self.partition((inner, body), before.clone());
                        under_way = joined(under_way, left);
                    }
                    // All have come to its end.
                    self.behind.entry(agent).or_default().met = true;
                }
                StmtKind::Reduce { .. } | StmtKind::Scan { .. } | StmtKind::Ptx { .. } => {}
            }
        }
        under_way
    }

    /// A partition; what is left is what nobody waits for.
    fn partition(&mut self, (agent, body): (Agent, &Region), before: UnderWay) -> UnderWay {
        let mut left = self.region(body, agent, before);
        let told = self.told;
        left.retain(|_, state| !told.covers_meeting(agent, state.commits.iter().copied()));
        left
    }

    fn iterations(
        &mut self,
        stmt: &StmtKind,
        body: &Region,
        agent: Agent,
        under_way: UnderWay,
    ) -> UnderWay {
        match self.at_least_once(stmt) {
            Some(false) => return under_way,
            _ if nested_loops(body) > WALKED_AGAIN => {
                let left = self.region(body, agent, under_way.clone());
                return either(&under_way.clone(), under_way, left);
            }
            Some(true) | None => {}
        }
        // An iteration begins with what the one before has left.
        let first = self.region(body, agent, under_way.clone());
        let mut entered = joined(under_way.clone(), later(first.clone()));
        let mut left = first.clone();
        for _ in 1..LOOKS {
            left = self.region(body, agent, entered.clone());
            let again = joined(entered.clone(), later(left.clone()));
            if again == entered {
                break;
            }
            entered = again;
        }
        let skipped =
            if self.at_least_once(stmt) == Some(true) { first } else { under_way.clone() };
        either(&under_way, skipped, left)
    }

    /// Whether a loop runs its body at least once, to the end; none where that is not known.
    fn at_least_once(&self, stmt: &StmtKind) -> Option<bool> {
        let StmtKind::For { from, to, step, body, .. } = stmt else { return None };
        let known = [from, to, step].map(|&at| self.places.known(at));
        let [Some(from), Some(to), Some(step)] = known else { return None };
        let any = if step < 0 { from > to } else { from < to };
        (!any || runs_through(body)).then_some(any)
    }

    fn op(
        &mut self,
        op: &Op,
        args: &[Value],
        (agent, loc): (Agent, Loc),
        under_way: &mut UnderWay,
    ) {
        match op {
            Op::Tcgen05(started @ Tcgen05::Mma { scaled, .. }) => {
                let flights = self.product((args, *scaled), (agent, loc), started.condition(args));
                for later in &flights {
                    let earlier = under_way.iter().find(|(earlier, _)| later.collides(earlier));
                    if let Some((earlier, state)) = earlier {
                        self.refusals.product(later, earlier, state);
                    }
                }
                self.start(flights, under_way);
            }
            Op::Tcgen05(started @ Tcgen05::Copy { .. }) => {
                let when = When::of(started.condition(args));
                let does = [Does::Reads(Operand::Source), Does::Writes];
                let flights = does.into_iter().zip(args).filter_map(|(does, &window)| {
                    let extent = self.places.extent(window)?;
                    Some(Flight { at: loc, shape: None, does, extent, when, agent })
                });
                let flights = flights.collect();
                self.start(flights, under_way);
            }
            Op::Tcgen05(Tcgen05::Commit { .. }) => {
                let Some(slot) = self.places.slot(args[0]) else { return };
                for state in under_way.values_mut() {
                    state.commits.insert(slot);
                    state.by.get_or_insert(args[0]);
                }
            }
            Op::Barrier(BarrierOp::Wait | BarrierOp::Test) => {
                let Some(slot) = self.places.slot(args[0]) else { return };
                self.behind.entry(agent).or_default().waits.insert(slot);
                let told = self.told;
                under_way.retain(|_, state| {
                    let over = told.covers(agent, slot, state.commits.iter().copied());
                    if !state.commits.is_empty() {
                        state.missed = Some(args[0]);
                    }
                    !over
                });
            }
            Op::Named(NamedOp::Sync, _) | Op::Cluster(ClusterOp::Sync | ClusterOp::Wait) => {
                self.behind.entry(agent).or_default().met = true;
                let told = self.told;
                under_way
                    .retain(|_, state| !told.covers_meeting(agent, state.commits.iter().copied()));
            }
            Op::TensorMemory(access @ (TensorMemoryOp::Load | TensorMemoryOp::Store)) => {
                let Some(extent) = self.places.extent(args[0]) else { return };
                // What is only read may be read.
                let stores = *access == TensorMemoryOp::Store;
                self.thread((&extent, stores), loc, under_way);
                let behind = self.behind.entry(agent).or_default();
                if stores {
                    behind.stored.push(extent);
                } else {
                    self.reads.insert((agent, loc), (extent, behind.clone()));
                }
            }
            Op::StoreShared => self.writes_shared(args.first(), loc, under_way),
            Op::CopyAsync(_) => self.writes_shared(args.last(), loc, under_way),
            Op::Tma(tma) if matches!(tma.kind, TmaKind::Load | TmaKind::Gather) => {
                self.writes_shared(args.last(), loc, under_way);
            }
            _ => {}
        }
    }

    fn start(&mut self, flights: Vec<Flight>, under_way: &mut UnderWay) {
        for flight in flights {
            if flight.does == Does::Writes && !self.started.contains(&flight) {
                self.started.push(flight.clone());
            }
            under_way.insert(flight, State::default());
        }
    }

    /// What a product does to memory.
    fn product(
        &self,
        (args, scaled): (&[Value], Option<Scaled>),
        (agent, at): (Agent, Loc),
        condition: Option<Value>,
    ) -> Vec<Flight> {
        let when = When::of(condition);
        let shape = Shape::of(self.kernel, args, scaled);
        let mut operands = vec![
            (args[0], Does::Reads(Operand::Left)),
            (args[1], Does::Reads(Operand::Right)),
            (args[2], Does::Writes),
        ];
        if scaled.is_some() {
            operands.extend(args[4..6].iter().map(|&arg| (arg, Does::Reads(Operand::Scales))));
        }
        let flight = |(window, does)| {
            let extent = self.places.extent(window)?;
            Some(Flight { at, shape, does, extent, when, agent })
        };
        operands.into_iter().filter_map(flight).collect()
    }

    /// Threads read or write tensor memory.
    fn thread(&mut self, (extent, stores): (&Extent, bool), loc: Loc, under_way: &UnderWay) {
        let against = |does| match does {
            Does::Writes => true,
            Does::Reads(_) => stores,
        };
        let hit = under_way.iter().filter(|(flight, _)| against(flight.does));
        let hit = hit.filter(|(flight, _)| extent.overlap(&flight.extent) != Overlap::No);
        // A write says more than a read of the same product.
        if let Some((flight, state)) = hit.max_by_key(|(flight, _)| flight.does) {
            self.refusals.access(stores, (flight, state), loc);
        }
    }

    /// Threads or copies write shared memory.
    fn writes_shared(&mut self, window: Option<&Value>, loc: Loc, under_way: &UnderWay) {
        let Some(extent) = window.and_then(|&window| self.places.extent(window)) else { return };
        let hit =
            under_way.iter().find(|(flight, _)| extent.overlap(&flight.extent) == Overlap::Certain);
        if let Some((flight, state)) = hit {
            self.refusals.overwritten((flight, state), loc);
        }
    }

    /// Reads of what other partitions start, by a partition that has not waited for them.
    fn others(&mut self) {
        for ((agent, loc), (extent, behind)) in &self.reads {
            let written = |stored: &Extent| extent.overlap(stored) != Overlap::No;
            if behind.met || behind.stored.iter().any(written) {
                continue;
            }
            let missed = self.started.iter().find(|flight| {
                let commits = || self.told.commits(flight.agent).iter().copied();
                let heard = |&wait: &Slot| {
                    let commits = commits().filter_map(|barrier| self.places.slot(barrier));
                    self.told.covers(*agent, wait, commits)
                };
                flight.agent != *agent
                    && extent.overlap(&flight.extent) != Overlap::No
                    && !behind.waits.iter().any(heard)
            });
            if let Some(flight) = missed {
                let commits = self.told.commits(flight.agent);
                let state = State { by: commits.first().copied(), ..State::default() };
                self.refusals.access(false, (flight, &state), *loc);
            }
        }
    }

    /// What is under way at the end, and nobody waits for.
    fn ends(&mut self, left: &UnderWay) {
        let told = self.told;
        let left = left.iter().find(|(flight, state)| {
            !state.waited_elsewhere
                && !told.covers_meeting(flight.agent, state.commits.iter().copied())
        });
        if let Some((flight, state)) = left {
            self.refusals.end(flight, state);
        }
    }
}

/// Whether nothing in a branch or in the body of a loop leaves it before its end.
fn runs_through(region: &Region) -> bool {
    let inside = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Loop { .. } => false,
        kind => kind.regions().into_iter().all(runs_through),
    };
    matches!(region.end, Terminator::Continue(0, _) | Terminator::Yield(_))
        && region.stmts.iter().all(inside)
        && !region.stmts.iter().any(continues)
}

/// Whether a branch goes on with the next iteration of the loop that it is in.
fn continues(stmt: &Stmt) -> bool {
    let StmtKind::If { then, otherwise, .. } = &stmt.kind else { return false };
    [then, otherwise].iter().any(|branch| !matches!(branch.end, Terminator::Yield(_)))
}

/// What the next iteration finds.
fn later(under_way: UnderWay) -> UnderWay {
    let mut found = UnderWay::new();
    for (flight, state) in under_way {
        meet(&mut found, flight.later(), state);
    }
    found
}

/// What is left behind one of two ways, which began with the same.
fn either(before: &UnderWay, one: UnderWay, other: UnderWay) -> UnderWay {
    let over = |left: &UnderWay| {
        before.keys().filter(|flight| !left.contains_key(flight)).cloned().collect::<Vec<_>>()
    };
    let waited = [over(&one), over(&other)].concat();
    let mut left = joined(one, other);
    for flight in waited {
        left.entry(flight).and_modify(|state| state.waited_elsewhere = true);
    }
    left
}

fn joined(mut one: UnderWay, other: UnderWay) -> UnderWay {
    for (flight, state) in other {
        meet(&mut one, flight, state);
    }
    one
}

/// Where ways meet, what has been committed to is what was on all of them.
fn meet(into: &mut UnderWay, flight: Flight, state: State) {
    match into.entry(flight) {
        std::collections::btree_map::Entry::Vacant(entry) => {
            entry.insert(state);
        }
        std::collections::btree_map::Entry::Occupied(mut entry) => {
            let known = entry.get_mut();
            known.commits = known.commits.intersection(&state.commits).copied().collect();
            known.by = known.by.filter(|_| !known.commits.is_empty());
            known.missed = known.missed.filter(|&missed| state.missed == Some(missed));
            known.waited_elsewhere |= state.waited_elsewhere;
        }
    }
}
