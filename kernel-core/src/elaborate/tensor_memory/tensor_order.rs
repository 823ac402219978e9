//! The order of what the tensor cores do, and of what threads do to the same memory.
//!
//! One thread starts products and copies, and all go on. What they read may not be written, and what they write neither read nor written, until a
//! wait says that they are done: one for a barrier that a commit behind them arrives at, or for one at which somebody arrives who
//! has waited for that. Among themselves, copies and products run in order, and so do products of one kind and shape that add to the same sums;
//! other products need a wait between them (PTX ISA, "tcgen05 Memory Consistency Model: Pipelined instructions").
//!
//! What is certainly not waited for is refused. A wait on a condition may be for what there is on that condition, or for an iteration before the first of
//! which there was none; of tiles that are told apart when the kernel runs, a wait for one may be the one that is needed.
//!
//! A partition is followed along its ways. Of the others it is asked whether it has waited for them at all before it reads what they
//! write. Which phase a wait is for is known when the kernel runs: the emulator looks at that.

use std::collections::{BTreeMap, BTreeSet};

use self::{
    flight::{Does, Extent, Flight, Operand, Overlap, Places, Shape, Slot, When},
    refusal::Refusals,
    told::{ALL, Told},
    under_way::{State, UnderWay, behind_one},
};
use super::{left_factor::FirstRows, own_columns::Columns};
use crate::{
    diag::Diagnostic,
    ir::{
        Access, BarrierOp, Barriers, By, ClusterOp, Does::Writes, Kernel, NamedOp, Op, Region,
        Scaled, StmtKind, Tcgen05, TensorMemoryOp, Terminator, Type, Value,
    },
    loc::Loc,
    schedule::{WALKED_AGAIN, nested_loops},
};

mod flight;
mod refusal;
mod told;
mod under_way;

/// A partition, by its number.
type Agent = usize;

/// The most walks of the body of a loop. What a commit and a wait do to a flight is settled after as many iterations as lie between its start and them.
const LOOKS: u32 = 4;

/// How the source names a value.
pub(crate) type Named<'n> = &'n dyn Fn(Value) -> Option<String>;

/// What is wrong with the order of a kernel whose layouts are all known.
pub(crate) fn check(
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
        refusals: Refusals {
            kernel,
            told: &told,
            places: &places,
            named,
            found: Vec::new(),
            visible: Vec::new(),
        },
        started: Vec::new(),
        reads: BTreeMap::new(),
        behind: BTreeMap::new(),
        loops: Vec::new(),
        ended: Vec::new(),
    };
    let left = walk.partition((ALL, &kernel.body), UnderWay::default());
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
    /// The barriers at which it has arrived since it wrote something.
    told: BTreeSet<Barriers>,
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
    loops: Vec<Iterations>,
    /// What is under way where a `return` ends the kernel.
    ended: Vec<UnderWay>,
}

/// What leaves an iteration of a loop, to the next one and to behind the loop.
#[derive(Debug, Default)]
struct Iterations {
    continued: Vec<UnderWay>,
    broken: Vec<UnderWay>,
}

impl Walk<'_> {
    /// Follows a region; what is under way behind it, if the way goes on there.
    fn region(&mut self, region: &Region, agent: Agent, under_way: UnderWay) -> Option<UnderWay> {
        let outside = self.refusals.visible.len();
        self.refusals.visible.extend(&region.args);
        let left = self.statements(region, agent, under_way);
        self.refusals.visible.truncate(outside);
        left
    }

    fn statements(
        &mut self,
        region: &Region,
        agent: Agent,
        mut under_way: UnderWay,
    ) -> Option<UnderWay> {
        for stmt in &region.stmts {
            match &stmt.kind {
                StmtKind::Op { op, args, result } => {
                    self.op(op, args, (agent, stmt.loc), &mut under_way);
                    self.refusals.visible.extend(*result);
                }
                StmtKind::If { then, otherwise, .. } => {
                    let ways =
                        [then, otherwise].map(|way| self.region(way, agent, under_way.clone()));
                    under_way = behind_one(&under_way, ways.into_iter().flatten())?;
                }
                StmtKind::For { body, .. } | StmtKind::Loop { body, .. } => {
                    under_way = self.iterations(&stmt.kind, body, agent, under_way)?;
                }
                StmtKind::Specialize { default, partitions, .. } => {
                    let before = std::mem::take(&mut under_way);
                    let others = partitions.iter().map(|partition| &partition.body);
                    for (number, body) in std::iter::once(default).chain(others).enumerate() {
                        let inner = self.told.agent(stmt.loc, number);
                        let behind = self.behind.get(&agent).cloned().unwrap_or_default();
                        self.behind.insert(inner, behind);
                        let left = self.partition((inner, body), before.clone());
                        under_way = under_way.joined(left);
                    }
                    // All have come to its end.
                    self.behind.entry(agent).or_default().met = true;
                }
                StmtKind::Reduce { .. } | StmtKind::Scan { .. } | StmtKind::Ptx { .. } => {}
            }
        }
        let at = |depth: u32| self.loops.len().checked_sub(1 + depth as usize);
        match region.end {
            Terminator::Yield(_) => return Some(under_way),
            Terminator::Return => self.ended.push(under_way),
            Terminator::Continue(depth, _) => {
                let iterations = at(depth).and_then(|at| self.loops.get_mut(at))?;
                iterations.continued.push(under_way);
            }
            Terminator::Break(depth, _) => {
                let iterations = at(depth).and_then(|at| self.loops.get_mut(at))?;
                iterations.broken.push(under_way);
            }
        }
        None
    }

    /// A partition, or the whole kernel; what is left is what nobody else waits for.
    fn partition(&mut self, (agent, body): (Agent, &Region), before: UnderWay) -> UnderWay {
        let ended = std::mem::take(&mut self.ended);
        let end = self.region(body, agent, before.clone());
        let ends = std::mem::replace(&mut self.ended, ended).into_iter().chain(end);
        let mut left = behind_one(&before, ends).unwrap_or_default();
        let told = self.told;
        left.end(|state| told.covers_meeting(agent, state.commits.iter().copied()));
        left
    }

    /// A loop; what is under way behind it, if it ends.
    fn iterations(
        &mut self,
        stmt: &StmtKind,
        body: &Region,
        agent: Agent,
        under_way: UnderWay,
    ) -> Option<UnderWay> {
        let any = self.any_iteration(stmt);
        if any == Some(false) {
            return Some(under_way);
        }
        // An iteration begins with what the one before has left.
        let looks = if nested_loops(body) > WALKED_AGAIN { 1 } else { LOOKS };
        let mut entered = under_way.clone();
        let mut left = Vec::new();
        let (found, ended) = (self.refusals.found.len(), self.ended.len());
        for _ in 0..looks {
            // What is known of all iterations is known when the last look begins.
            self.refusals.found.truncate(found);
            self.ended.truncate(ended);
            self.loops.push(Iterations::default());
            self.region(body, agent, entered.clone());
            let Iterations { continued, broken } = self.loops.pop().unwrap_or_default();
            let again = continued.iter().cloned().map(|left| left.later(&entered));
            let again = again.fold(entered.clone(), UnderWay::joined);
            left = broken;
            if let StmtKind::For { .. } = stmt {
                left.extend(continued);
            }
            if again == entered {
                break;
            }
            entered = again;
        }
        if let (StmtKind::For { .. }, None) = (stmt, any) {
            left.push(under_way.clone());
        }
        behind_one(&under_way, left.into_iter().map(UnderWay::behind_iteration))
    }

    /// Whether a loop runs its body at least once; none where that is not known.
    fn any_iteration(&self, stmt: &StmtKind) -> Option<bool> {
        let StmtKind::For { from, to, step, .. } = stmt else { return Some(true) };
        let known = [from, to, step].map(|&at| self.places.known(at));
        let [Some(from), Some(to), Some(step)] = known else { return None };
        Some(if step < 0 { from > to } else { from < to })
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
                    let mut earlier = under_way.flights.iter();
                    let hit =
                        earlier.find(|(earlier, state)| !state.excused && later.collides(earlier));
                    if let Some((earlier, state)) = hit {
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
                for state in under_way.flights.values_mut() {
                    state.commits.insert(slot);
                    state.by.get_or_insert(args[0]);
                }
            }
            Op::Barrier(BarrierOp::Wait | BarrierOp::Test) => {
                let Some(slot) = self.places.slot(args[0]) else { return };
                self.behind.entry(agent).or_default().waits.insert(slot);
                let told = self.told;
                under_way.end(|state| {
                    let over = told.covers(agent, slot, state.commits.iter().copied());
                    if !state.commits.is_empty() {
                        state.missed = Some(args[0]);
                    }
                    over
                });
            }
            Op::Barrier(BarrierOp::Arrive) => {
                let behind = self.behind.entry(agent).or_default();
                if !behind.stored.is_empty() {
                    behind.told.extend(self.places.slot(args[0]).map(|slot| slot.root));
                }
            }
            Op::Named(NamedOp::Sync, _) | Op::Cluster(ClusterOp::Sync | ClusterOp::Wait) => {
                self.behind.entry(agent).or_default().met = true;
                let told = self.told;
                under_way.end(|state| told.covers_meeting(agent, state.commits.iter().copied()));
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
            _ => {
                for access in self.kernel.shared_accesses(op, args) {
                    self.writes_shared(access, loc, under_way);
                }
            }
        }
    }

    fn start(&mut self, flights: Vec<Flight>, under_way: &mut UnderWay) {
        for flight in flights {
            if flight.does == Does::Writes && !self.started.contains(&flight) {
                self.started.push(flight.clone());
            }
            let conditional = flight.when != When::Always;
            under_way.flights.insert(flight, State { conditional, ..State::default() });
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
        let hit = under_way.flights.iter().filter(|(flight, state)| {
            // Which tile of several it is, and of which one a wait says something, is known when the kernel runs.
            let counts = match extent.overlap(&flight.extent) {
                Overlap::No => false,
                Overlap::Perhaps => !under_way.waited.contains(&flight.extent.memory),
                Overlap::Certain => true,
            };
            against(flight.does) && !state.excused && counts
        });
        // A write says more than a read of the same product.
        if let Some((flight, state)) = hit.max_by_key(|(flight, _)| flight.does) {
            self.refusals.access(stores, (flight, state), loc);
        }
    }

    /// Threads or copies write shared memory of this block. A pipelined loop waits before its copies.
    fn writes_shared(&mut self, access: Access, loc: Loc, under_way: &UnderWay) {
        let is_own =
            matches!(self.kernel.ty(access.window), Type::Shared(window) if !window.remote);
        if access.does != Writes || access.by == By::Staged || !is_own {
            return;
        }
        let Some(extent) = self.places.extent(access.window) else { return };
        let hit = under_way.flights.iter().find(|(flight, state)| {
            !state.excused && extent.overlap(&flight.extent) == Overlap::Certain
        });
        if let Some((flight, state)) = hit {
            self.refusals.overwritten((flight, state), loc);
        }
    }

    /// Reads of what other partitions start, by a partition that has not waited for them.
    fn others(&mut self) {
        for ((agent, loc), (extent, behind)) in &self.reads {
            if behind.met {
                continue;
            }
            let written = |stored: &Extent| extent.overlap(stored) != Overlap::No;
            let own = behind.stored.iter().any(written);
            let missed = self.started.iter().find(|flight| {
                let commits = || self.told.commits(flight.agent).iter().copied();
                let heard = |&wait: &Slot| {
                    let commits = commits().filter_map(|barrier| self.places.slot(barrier));
                    self.told.covers(*agent, wait, commits)
                };
                // What it has written itself, nobody multiplies before it says so.
                let own = own && !self.told.awaits(flight.agent, &behind.told);
                flight.agent != *agent
                    && !own
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
        let left = left.flights.iter().find(|(flight, state)| {
            !state.excused && !told.covers_meeting(flight.agent, state.commits.iter().copied())
        });
        if let Some((flight, state)) = left {
            self.refusals.end(flight, state);
        }
    }
}
