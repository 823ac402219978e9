//! Copies in flight: nothing uses the shared memory that a TMA copy, a bulk copy or `cp.async` still writes, and nothing writes what one still reads.
//!
//! ```text
//! full.expect(s.bytes());
//! tma::load(x, [0, 0], full, s);  // writes `s` some time from now
//! full.wait(0);                   // without this line, the next one is refused
//! let tile = s.load();
//! ```
//!
//! A copy is refused against a later access of the same window if no path from the copy to the access has a wait that could cover it. Such
//! a wait is: of a copy that completes on a barrier, one on that barrier, or on one at which somebody arrives who has waited there; of a
//! store and of `cp.async`, one that leaves at most as many groups as came after it. Which phase a wait is for, which buffer of a ring a number
//! known at run time means, and whether a thread reads the part of another one before they have met, the emulator finds out.
//!
//! A partition is followed by itself. Pipelined loops wait for their own copies.

use std::collections::BTreeMap;

use la_arena::ArenaMap;

use self::messages::Refusals;
use super::{
    signals::{ALL, Agent, Signals},
    slots::{Slot, Slots},
    tiles::{self, Tile},
};
use crate::{
    diag::Diagnostic,
    elaborate::Written,
    ir::{
        Access, Announcement, Blocks, CopyOp, Does, Done, Effects, Kernel, Memory, Op, Shared,
        Stmt, StmtKind, StoreWait, Value, Wait,
        flow::{self, Flow, Number, Part, Passing},
    },
    loc::Loc,
};

mod messages;

/// What ends a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Until {
    /// A wait on this barrier.
    Barrier(Slot),
    /// A signal of the block that receives it.
    Signal,
    /// A wait for its bulk group.
    BulkGroup,
    /// A wait for its group of `cp.async`.
    CpAsyncGroup,
}

/// A copy, and a window of shared memory that it reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Flight {
    /// Where it starts.
    at: Loc,
    root: Shared,
    tile: Tile,
    writes: bool,
    until: Until,
}

/// How far a copy has come, the furthest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// It has started.
    Started,
    /// It is in a group, after which so many others came.
    InGroup(u32),
    /// A wait may have covered it.
    Done,
}

/// How often branches are entered that may exclude the condition on which a copy started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Doubt(u8);

impl Doubt {
    /// Some, and for good.
    const LASTING: Doubt = Doubt(u8::MAX);

    fn entered(self) -> Doubt {
        Doubt(self.0.saturating_add(1))
    }

    fn left(self) -> Doubt {
        if self == Doubt::LASTING { self } else { Doubt(self.0.saturating_sub(1)) }
    }

    /// Left by a jump, out of an unknown number of branches.
    fn jumped(self) -> Doubt {
        if self == Doubt::default() { self } else { Doubt::LASTING }
    }
}

/// What is known of a copy, over all paths from its start to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    /// The furthest that it has come on any of them.
    stage: Stage,
    /// Other paths do not start it.
    conditional: bool,
    doubt: Doubt,
}

/// The copies that have started on the paths to a place.
type Flights = BTreeMap<Flight, State>;

/// What uses memory that a copy in flight needs.
pub(super) fn check(kernel: &Kernel, written: &Written) -> Vec<Diagnostic> {
    if kernel.shared.is_empty() {
        return Vec::new();
    }
    let (slots, signals) = (Slots::of(kernel), Signals::of(kernel));
    let mut others_unknown = false;
    kernel.body.each_stmt(&mut |stmt| others_unknown |= is_unknown(stmt));
    let mut copies = Copies {
        kernel,
        slots: &slots,
        signals: &signals,
        tiles: tiles::shared(kernel),
        rings: kernel.rings(),
        has_others: signals.has_others(),
        others_unknown: others_unknown && signals.has_others(),
        refusals: Refusals::of(kernel, &slots, written),
        agent: ALL,
    };
    match flow::solve(&mut copies, &kernel.body, &Flights::new()) {
        Ok(_) => copies.refusals.diagnostics(),
        Err(unsettled) => vec![super::unknown(unsettled)],
    }
}

/// Instructions that the user wrote out may wait for anything.
fn is_unknown(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Ptx { code, .. } if code.touches_memory())
}

/// A pipelined loop waits for its own groups of `cp.async`, and so for those before them.
fn waits_for_groups(stmt: &Stmt) -> bool {
    let StmtKind::For { body, .. } = &stmt.kind else { return false };
    let ahead = body.staged().map_or(0, |staged| staged.at);
    let mut groups = false;
    for stmt in &body.stmts[..ahead] {
        stmt.each_copy_ahead(&mut |copy, _| {
            groups |= matches!(copy.kind, StmtKind::Op { op: Op::Copy(CopyOp::Async(..)), .. });
        });
    }
    groups
}

struct Copies<'k> {
    kernel: &'k Kernel,
    slots: &'k Slots<'k>,
    signals: &'k Signals<'k>,
    tiles: ArenaMap<Value, Tile>,
    /// What pipelined loops fill: they wait for it themselves.
    rings: ArenaMap<Shared, u32>,
    /// There are other partitions, or other blocks.
    has_others: bool,
    /// What those wait for is not known: any of their signals may be for any copy.
    others_unknown: bool,
    refusals: Refusals<'k>,
    agent: Agent,
}

impl Copies<'_> {
    /// The window of this block's shared memory that is accessed: its allocation, and its tile there.
    fn window(&self, access: &Access) -> Option<(Shared, Tile)> {
        let Memory::Shared(window) = access.memory else { return None };
        let ty = self.kernel.ty(window).shared().filter(|ty| !ty.remote)?;
        let certain = match access.blocks {
            Blocks::One | Blocks::All => true,
            // This block may not be among them.
            Blocks::Masked(_) => false,
        };
        let followed = certain && self.rings.get(ty.root).is_none();
        Some((ty.root, *self.tiles.get(window)?)).filter(|_| followed)
    }

    /// The copy that an access is part of, if one thread or the threads start it and go on.
    fn flight(&self, access: &Access, at: Loc) -> Option<Flight> {
        let writes = access.does == Does::Writes;
        let until = match access.done {
            Done::Barrier(_) if !writes => Until::Signal,
            Done::Barrier(barrier) => Until::Barrier(self.slots.slot(barrier)?),
            Done::BulkGroup => Until::BulkGroup,
            Done::CpAsyncGroup => Until::CpAsyncGroup,
            Done::AtOnce | Done::WgmmaGroup | Done::Commit | Done::Pipeline => return None,
        };
        let (root, tile) = self.window(access)?;
        Some(Flight { at, root, tile, writes, until })
    }

    /// Notes what the threads announce and wait for.
    fn waits(&self, effects: &Effects, flights: &mut Flights) {
        if effects.announces == Some(Announcement::CpAsyncGroup) {
            commit(flights, Until::CpAsyncGroup);
        }
        for wait in &effects.waits {
            let open = flights.iter_mut().filter(|(_, state)| state.stage != Stage::Done);
            for (flight, state) in open {
                if self.covers(*wait, flight, state.stage) {
                    state.stage = Stage::Done;
                }
            }
        }
    }

    /// Whether a wait may cover a copy at this stage.
    fn covers(&self, wait: Wait, flight: &Flight, stage: Stage) -> bool {
        let groups = |pending: u32| matches!(stage, Stage::InGroup(later) if later >= pending);
        let unknown = self.others_unknown;
        match flight.until {
            Until::Barrier(completes) => {
                let told = |slot| self.signals.covers(self.agent, slot, [completes]);
                let covers = |slot: Slot| slot.meets(completes) || self.has_others && told(slot);
                match wait.barrier() {
                    Some(barrier) => unknown || self.slots.slot(barrier).is_none_or(covers),
                    None if wait.meets_others() => {
                        unknown || self.signals.covers_meeting(self.agent, [completes])
                    }
                    None => false,
                }
            }
            Until::Signal => wait.barrier().is_some() || wait.meets_others(),
            Until::BulkGroup => matches!(wait, Wait::Bulk { pending, .. } if groups(pending)),
            Until::CpAsyncGroup => {
                wait == Wait::CpAsyncAll
                    || matches!(wait, Wait::CpAsync { pending } if groups(pending))
            }
        }
    }

    /// The copies in flight that an access collides with.
    fn collide(&self, access: &Access, flights: &Flights) -> Vec<Flight> {
        let window = self.window(access).filter(|_| access.done != Done::Pipeline);
        let Some((root, tile)) = window else { return Vec::new() };
        let writes = access.does == Does::Writes;
        let hit = flights.iter().filter(|(flight, state)| {
            let excluded =
                state.doubt != Doubt::default() || state.conditional && access.condition.is_some();
            let same = flight.root == root && flight.tile.same(tile) == Some(true);
            same && (flight.writes || writes) && state.stage != Stage::Done && !excluded
        });
        hit.map(|(&flight, _)| flight).collect()
    }

    /// Whether a loop goes on to a second iteration, as far as is known.
    fn comes_round(&self, looped: &StmtKind) -> bool {
        let Some([from, to, step]) = self.slots.bounds(looped) else { return true };
        if step < 0 { from + step > to } else { from + step < to }
    }
}

/// Ends a group of copies.
fn commit(flights: &mut Flights, of: Until) {
    for (_, state) in flights.iter_mut().filter(|(flight, _)| flight.until == of) {
        state.stage = match state.stage {
            Stage::Started => Stage::InGroup(0),
            // No wait can leave more in flight: after so many groups, every wait covers a copy.
            Stage::InGroup(later) => Stage::InGroup(StoreWait::MOST_PENDING.min(later + 1)),
            Stage::Done => Stage::Done,
        };
    }
}

impl Flow for Copies<'_> {
    type State = Flights;

    fn cross(&mut self, stmt: &Stmt, flights: &mut Flights) {
        let StmtKind::Op { op, args, result } = &stmt.kind else {
            let unknown = is_unknown(stmt);
            let groups = waits_for_groups(stmt);
            for (flight, state) in flights.iter_mut() {
                if unknown || groups && flight.until == Until::CpAsyncGroup {
                    state.stage = Stage::Done;
                }
            }
            let branches = match &stmt.kind {
                StmtKind::If { .. } | StmtKind::Specialize { .. } => true,
                StmtKind::For { .. } => self.slots.runs(&stmt.kind).is_none(),
                StmtKind::Op { .. }
                | StmtKind::Loop { .. }
                | StmtKind::Reduce { .. }
                | StmtKind::Scan { .. }
                | StmtKind::Ptx { .. } => false,
            };
            if branches {
                // It may exclude the conditions on which copies started.
                let conditional = flights.values_mut().filter(|state| state.conditional);
                conditional.for_each(|state| state.doubt = state.doubt.entered());
            }
            return;
        };
        let effects = self.kernel.effects(op, args, *result);
        self.waits(&effects, flights);
        let started = effects.accesses.iter();
        let started: Vec<(Flight, bool)> = started
            .filter_map(|access| Some((self.flight(access, stmt.loc)?, access.condition.is_some())))
            .collect();
        for (flight, conditional) in started {
            if flight.until == Until::BulkGroup {
                commit(flights, Until::BulkGroup);
            }
            let grouped = flight.until == Until::BulkGroup;
            let stage = if grouped { Stage::InGroup(0) } else { Stage::Started };
            flights.insert(flight, State { stage, conditional, doubt: Doubt::default() });
        }
    }

    fn join(&mut self, into: &mut Flights, other: &Flights) {
        for (flight, state) in into.iter_mut() {
            state.conditional |= !other.contains_key(flight);
        }
        for (&flight, &state) in other {
            let known = into.entry(flight).or_insert(State { conditional: true, ..state });
            known.stage = known.stage.max(state.stage);
            known.conditional |= state.conditional;
            known.doubt = known.doubt.max(state.doubt);
        }
    }

    fn pass(&mut self, passing: Passing, _: &[Value], _: &[Value], flights: &mut Flights) -> bool {
        let doubt: fn(Doubt) -> Doubt = match passing {
            Passing::Yield => Doubt::left,
            Passing::Continue | Passing::Break => Doubt::jumped,
            Passing::Begin | Passing::Finish => return false,
        };
        for state in flights.values_mut() {
            state.doubt = doubt(state.doubt);
        }
        false
    }

    fn next_iteration(&mut self, looped: &StmtKind, entered: &Flights, left: Flights) -> Flights {
        if !self.comes_round(looped) {
            return entered.clone();
        }
        // In the next iteration the number stands for another buffer.
        left.into_iter().filter(|(flight, _)| flight.tile == flight.tile.later()).collect()
    }

    fn behind_loop(&mut self, looped: &StmtKind, before: &Flights, mut left: Flights) -> Flights {
        if self.slots.runs(looped).is_none() {
            for (flight, state) in &mut left {
                // The loop ends where its range does, whatever the branches in it exclude.
                if let Some(known) = before.get(flight) {
                    state.doubt = state.doubt.min(known.doubt);
                }
                state.doubt = state.doubt.left();
            }
        }
        left
    }

    fn runs(&self, kind: &StmtKind) -> Option<bool> {
        self.slots.runs(kind)
    }

    fn enter(&mut self, part: Part<'_>, before: &Flights) -> Flights {
        self.agent = self.signals.agent(part.at, part.index);
        let mut begun = before.clone();
        if part.index > 0 {
            // Groups are those of the threads that started them.
            begun.retain(|flight, _| flight.is_known_to_all());
        }
        begun
    }

    fn behind_parts(
        &mut self,
        at: Loc,
        _: &Flights,
        mut left: Vec<Option<Flights>>,
    ) -> Option<Flights> {
        self.agent = ALL;
        // All have reached the end: another partition may have waited for what one started.
        for (index, part) in left.iter_mut().enumerate() {
            let agent = self.signals.agent(at, index);
            for (flight, state) in part.iter_mut().flatten() {
                if let Until::Barrier(completes) = flight.until
                    && self.signals.covers_meeting(agent, [completes])
                {
                    state.stage = Stage::Done;
                }
            }
        }
        let mut left = left.into_iter().enumerate();
        let (_, behind) = left.next()?;
        let mut behind = behind?;
        for (_, mut part) in left.filter_map(|(index, part)| Some((index, part?))) {
            part.retain(|flight, _| flight.is_known_to_all());
            self.join(&mut behind, &part);
        }
        Some(behind)
    }

    fn visit(&mut self, stmt: &Stmt, flights: &Flights, _: Number) {
        self.refusals.comes_to(stmt);
        let StmtKind::Op { op, args, result } = &stmt.kind else { return };
        let accesses = self.kernel.effects(op, args, *result).accesses;
        for access in &accesses {
            for flight in self.collide(access, flights) {
                self.refusals.used(access, stmt, &flight);
            }
        }
    }
}

impl Flight {
    /// Whether other threads than those that started it can wait for it.
    fn is_known_to_all(&self) -> bool {
        match self.until {
            Until::Barrier(_) | Until::Signal => true,
            Until::BulkGroup | Until::CpAsyncGroup => false,
        }
    }
}
