//! What holds at each place of a kernel: the solver of all analyses that follow statements in their order.
//!
//! An analysis gives a state, what a statement makes of it, and how the states of two paths to one place join. The solver follows branches,
//! loops, early exits and partitions. The state at the start of an iteration is that before the loop joined with those that iterations
//! leave; the body is followed until that no longer changes. Then every statement is visited once more with the state before it: there an
//! analysis reports and inserts.
//!
//! ```text
//! state ─► if c { cross.. yield } else { cross.. break } ─► the state that yields
//!            for .. { cross.. continue } ─► before the loop, joined with what iterations and breaks leave
//! ```
//!
//! An analysis of values, whose facts do not depend on the place, has no state: it keeps its facts itself, and returns from [`Flow::pass`]
//! whether the facts of a loop's carried values have changed.

use std::{collections::BTreeMap, fmt};

use la_arena::ArenaMap;

use super::{Region, Stmt, StmtKind, Terminator, Value};
use crate::loc::Loc;

/// The most times that the body of a loop is followed for each statement of the kernel. Most states settle after a few; those that grow by
/// one thing at a time do after as many as there are things. Facts of values always settle, and have no limit.
const LOOKS_A_STATEMENT: u32 = 16;
const LOOKS: u32 = 1024;

/// A loop whose state still changes after all these looks, so that nothing is known of it: a fault of the analysis, whose joins do not
/// only add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsettled {
    /// The loop.
    pub at: Loc,
}

impl fmt::Display for Unsettled {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("what holds at the start of an iteration of a loop changes without end")
    }
}

/// A statement's number: its place among all statements of the kernel, those of inner regions included, in the order of the text.
pub type Number = u32;

/// A part of `warp_specialize`.
#[derive(Clone, Copy, Debug)]
pub struct Part<'k> {
    /// Where the statement stands.
    pub at: Loc,
    /// 0 is the default part, which the kernel's own warps run.
    pub index: usize,
    /// Its warps; none of the default part.
    pub warps: Option<u32>,
    /// What it runs.
    pub body: &'k Region,
}

/// How values become others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// What a region yields becomes the results of its statement.
    Yield,
    /// What a loop begins with becomes its carried values; of a loop without iterations, its results.
    Begin,
    /// What an iteration continues with becomes the carried values.
    Continue,
    /// What breaks a loop becomes its results.
    Break,
    /// The carried values of a counted loop become its results at its end.
    Finish,
}

/// The end of a region.
#[derive(Clone, Copy, Debug)]
pub struct End<'k> {
    /// How it ends.
    pub end: &'k Terminator,
    /// The values that receive what it passes.
    pub to: &'k [Value],
    /// The last statement before it, if there is one.
    pub last: Option<&'k Stmt>,
    /// The statement whose region ends; none of a whole body.
    pub around: Option<&'k Stmt>,
}

/// An analysis.
pub trait Flow {
    /// What holds at a place.
    type State: Clone + PartialEq;

    /// Whether facts are of values alone and kept by the analysis itself.
    const OF_VALUES: bool = false;

    /// Turns the state before a statement into that after it; for a statement with regions, into that at their beginning.
    fn cross(&mut self, stmt: &Stmt, state: &mut Self::State);

    /// Joins the state of another path to the same place.
    fn join(&mut self, into: &mut Self::State, other: &Self::State);

    /// The state after several paths that began with `before`; none if no path continues.
    fn meet(&mut self, before: &Self::State, paths: Vec<Self::State>) -> Option<Self::State> {
        let _ = before;
        let mut paths = paths.into_iter();
        let mut all = paths.next()?;
        paths.for_each(|path| self.join(&mut all, &path));
        Some(all)
    }

    /// Values become others; returns whether facts that the analysis keeps of the latter have changed.
    fn pass(
        &mut self,
        passing: Passing,
        from: &[Value],
        to: &[Value],
        state: &mut Self::State,
    ) -> bool {
        let _ = (passing, from, to, state);
        false
    }

    /// What the next iteration finds, of what one that began with `entered` leaves.
    fn next_iteration(
        &mut self,
        looped: &StmtKind,
        entered: &Self::State,
        left: Self::State,
    ) -> Self::State {
        let _ = (looped, entered);
        left
    }

    /// The state after a loop that began with `before`, of what an iteration leaves, or of `before` itself.
    fn behind_loop(
        &mut self,
        looped: &StmtKind,
        before: &Self::State,
        left: Self::State,
    ) -> Self::State {
        let _ = (looped, before);
        left
    }

    /// Whether a loop runs its body at least once; none if that is not known.
    fn runs(&self, kind: &StmtKind) -> Option<bool> {
        matches!(kind, StmtKind::Loop { .. }).then_some(true)
    }

    /// What holds where a part begins.
    fn enter(&mut self, part: Part<'_>, before: &Self::State) -> Self::State {
        let _ = part;
        before.clone()
    }

    /// The state after the parts of the statement at `at`, of what each part that ends leaves; the default part comes first.
    fn behind_parts(
        &mut self,
        at: Loc,
        before: &Self::State,
        left: Vec<Option<Self::State>>,
    ) -> Option<Self::State> {
        let _ = at;
        self.meet(before, left.into_iter().flatten().collect())
    }

    /// Visits a statement with the state before it, after all states have settled.
    fn visit(&mut self, stmt: &Stmt, state: &Self::State, number: Number) {
        let _ = (stmt, state, number);
    }

    /// Visits the end of a region, likewise.
    fn visit_end(&mut self, end: End<'_>, state: &Self::State) {
        let _ = (end, state);
    }

    /// Visits the end of a part, likewise; `last` is the number of the last statement of its region.
    fn visit_part(&mut self, part: Part<'_>, left: &Self::State, last: Option<Number>) {
        let _ = (part, left, last);
    }
}

/// Follows a body from its start to its end, and gives what holds at its end; none if it never ends.
///
/// # Errors
/// A state of a loop that does not settle. Then nothing has been visited.
pub fn solve<F: Flow>(
    flow: &mut F,
    body: &Region,
    start: &F::State,
) -> Result<Option<F::State>, Unsettled> {
    let mut solver = Solver::of(flow, body);
    let end = solver.whole(body, start);
    if let Some(unsettled) = solver.unsettled {
        return Err(unsettled);
    }
    if F::OF_VALUES {
        return Ok(end);
    }
    solver.next = 0;
    solver.visits = true;
    Ok(solver.whole(body, start))
}

/// Follows a body for facts of values, which the analysis keeps itself.
pub fn follow<F: Flow<State = ()>>(flow: &mut F, body: &Region) {
    const { assert!(F::OF_VALUES, "facts of places may not settle") };
    Solver::of(flow, body).whole(body, &());
}

/// A loop whose body is being followed.
struct Open<S> {
    args: Vec<Value>,
    results: Vec<Value>,
    continued: Vec<S>,
    broken: Vec<S>,
    /// A fact of a carried value has changed.
    changed: bool,
}

/// What a loop was found to do.
#[derive(Clone)]
struct Settled<S> {
    before: S,
    entered: S,
    behind: Option<S>,
    left: Left<S>,
}

/// The states of the jumps out of a piece of the program: for each open loop those that continue and break it, and those that end the kernel.
#[derive(Clone)]
struct Left<S> {
    loops: Vec<[Vec<S>; 2]>,
    ended: Vec<S>,
}

struct Solver<'f, F: Flow> {
    flow: &'f mut F,
    next: Number,
    loops: Vec<Open<F::State>>,
    ended: Vec<F::State>,
    settled: BTreeMap<Number, Vec<Settled<F::State>>>,
    visits: bool,
    most_looks: u32,
    unsettled: Option<Unsettled>,
}

/// How many statements a region has, those inside included.
fn count(region: &Region) -> Number {
    region.stmts.iter().map(|stmt| 1 + size(stmt)).sum()
}

impl<'f, F: Flow> Solver<'f, F> {
    fn of(flow: &'f mut F, body: &Region) -> Self {
        Solver {
            flow,
            next: 0,
            loops: Vec::new(),
            ended: Vec::new(),
            settled: BTreeMap::new(),
            visits: false,
            most_looks: LOOKS.saturating_add(LOOKS_A_STATEMENT.saturating_mul(count(body))),
            unsettled: None,
        }
    }

    /// A body that is left by its end and by `return`.
    fn whole(&mut self, body: &Region, start: &F::State) -> Option<F::State> {
        let outside = std::mem::take(&mut self.ended);
        let end = self.region(body, (None, &[]), start.clone());
        let mut ends = std::mem::replace(&mut self.ended, outside);
        ends.extend(end);
        self.flow.meet(start, ends)
    }

    /// A region of a statement; what holds after it if control continues there. `results` receive what it yields.
    fn region(
        &mut self,
        region: &Region,
        (around, results): (Option<&Stmt>, &[Value]),
        mut state: F::State,
    ) -> Option<F::State> {
        let first = self.next;
        for stmt in &region.stmts {
            let Some(after) = self.stmt(stmt, state) else {
                // Nothing runs what follows.
                self.next = first + count(region);
                return None;
            };
            state = after;
        }
        let depth = |depth: &u32| self.loops.len().checked_sub(1 + *depth as usize);
        let (passing, to) = match &region.end {
            Terminator::Return => (Passing::Yield, Vec::new()),
            Terminator::Yield(_) => (Passing::Yield, results.to_vec()),
            Terminator::Continue(of, _) => (Passing::Continue, self.loops[depth(of)?].args.clone()),
            Terminator::Break(of, _) => (Passing::Break, self.loops[depth(of)?].results.clone()),
        };
        if self.visits {
            let end = End { end: &region.end, to: &to, last: region.stmts.last(), around };
            self.flow.visit_end(end, &state);
        }
        let changed = self.flow.pass(passing, region.end.values(), &to, &mut state);
        match &region.end {
            Terminator::Yield(_) => return Some(state),
            Terminator::Return => self.ended.push(state),
            Terminator::Continue(of, _) => {
                let at = depth(of)?;
                self.loops[at].changed |= changed;
                self.loops[at].continued.push(state);
            }
            Terminator::Break(of, _) => {
                let at = depth(of)?;
                self.loops[at].broken.push(state);
            }
        }
        None
    }

    fn stmt(&mut self, stmt: &Stmt, mut state: F::State) -> Option<F::State> {
        if self.visits {
            self.flow.visit(stmt, &state, self.next);
        }
        self.next += 1;
        self.flow.cross(stmt, &mut state);
        match &stmt.kind {
            StmtKind::Op { .. }
            | StmtKind::Reduce { .. }
            | StmtKind::Scan { .. }
            | StmtKind::Ptx { .. } => Some(state),
            StmtKind::If { then, otherwise, results, .. } => {
                let sides = [then, otherwise]
                    .map(|side| self.region(side, (Some(stmt), results), state.clone()));
                self.flow.meet(&state, sides.into_iter().flatten().collect())
            }
            StmtKind::For { inits, body, results, .. } => {
                let carried = body.args.get(1..).unwrap_or_default();
                self.loop_of(stmt, (inits, carried, results), body, state)
            }
            StmtKind::Loop { inits, body, results } => {
                self.loop_of(stmt, (inits, &body.args, results), body, state)
            }
            StmtKind::Specialize { default, partitions, results } => {
                let mut left = Vec::new();
                let default = Part { at: stmt.loc, index: 0, warps: None, body: default };
                let others = partitions.iter().enumerate().map(|(index, partition)| Part {
                    at: stmt.loc,
                    index: index + 1,
                    warps: Some(partition.warps),
                    body: &partition.body,
                });
                for part in std::iter::once(default).chain(others) {
                    let begun = self.flow.enter(part, &state);
                    let outside = std::mem::take(&mut self.ended);
                    let results = if part.index == 0 { &results[..] } else { &[] };
                    let end = self.region(part.body, (Some(stmt), results), begun.clone());
                    let mut ends = std::mem::replace(&mut self.ended, outside);
                    ends.extend(end);
                    let end = self.flow.meet(&begun, ends);
                    if let (Some(end), true) = (&end, self.visits) {
                        let inside = part.body.stmts.last();
                        let last = inside.map(|last| self.next - 1 - size(last));
                        self.flow.visit_part(part, end, last);
                    }
                    left.push(end);
                }
                self.flow.behind_parts(stmt.loc, &state, left)
            }
        }
    }

    /// A loop with what it begins with, carries and gives.
    fn loop_of(
        &mut self,
        stmt: &Stmt,
        (inits, carried, results): (&[Value], &[Value], &[Value]),
        body: &Region,
        before: F::State,
    ) -> Option<F::State> {
        let first = self.next;
        let runs = self.flow.runs(&stmt.kind);
        if runs == Some(false) {
            self.next = first + count(body);
            let mut behind = before;
            self.flow.pass(Passing::Begin, inits, results, &mut behind);
            return Some(behind);
        }
        let known = self.settled.get(&first).into_iter().flatten();
        let known = known.filter(|_| !F::OF_VALUES).find(|known| known.before == before).cloned();
        if let (Some(known), false) = (&known, self.visits) {
            self.next = first + count(body);
            self.leave(known.left.clone());
            return known.behind.clone();
        }
        let outside: Vec<[usize; 2]> =
            self.loops.iter().map(|open| [open.continued.len(), open.broken.len()]).collect();
        let ended = self.ended.len();
        let mut entered = known.as_ref().map_or_else(
            || {
                let mut entered = before.clone();
                self.flow.pass(Passing::Begin, inits, carried, &mut entered);
                entered
            },
            |known| known.entered.clone(),
        );
        let mut looks = 0;
        let open = loop {
            looks += 1;
            self.next = first;
            self.loops.push(Open {
                args: carried.to_vec(),
                results: results.to_vec(),
                continued: Vec::new(),
                broken: Vec::new(),
                changed: false,
            });
            let _ = self.region(body, (Some(stmt), &[]), entered.clone());
            let open = self.loops.pop().expect("pushed above");
            let mut again = entered.clone();
            for left in &open.continued {
                let left = self.flow.next_iteration(&stmt.kind, &entered, left.clone());
                self.flow.join(&mut again, &left);
            }
            if known.is_some() || again == entered && !open.changed {
                break open;
            }
            if looks == self.most_looks && !F::OF_VALUES {
                self.unsettled.get_or_insert(Unsettled { at: stmt.loc });
            }
            if self.unsettled.is_some() {
                break open;
            }
            // The next pass over the body finds these jumps again.
            self.take_left(&outside, ended);
            entered = again;
        };
        let mut paths = open.broken;
        if let StmtKind::For { .. } = stmt.kind {
            paths.extend(open.continued.into_iter().map(|mut left| {
                self.flow.pass(Passing::Finish, carried, results, &mut left);
                left
            }));
            if runs.is_none() {
                let mut none = before.clone();
                self.flow.pass(Passing::Begin, inits, results, &mut none);
                paths.push(none);
            }
        }
        let paths = paths
            .into_iter()
            .map(|path| self.flow.behind_loop(&stmt.kind, &before, path))
            .collect();
        let behind = self.flow.meet(&before, paths);
        if !F::OF_VALUES && known.is_none() {
            let left = self.take_left(&outside, ended);
            self.leave(left.clone());
            let settled = Settled { before, entered, behind: behind.clone(), left };
            self.settled.entry(first).or_default().push(settled);
        }
        behind
    }

    /// The jumps since the lists had these lengths.
    fn take_left(&mut self, outside: &[[usize; 2]], ended: usize) -> Left<F::State> {
        let loops = self.loops.iter_mut().zip(outside).map(|(open, &[continued, broken])| {
            [open.continued.split_off(continued), open.broken.split_off(broken)]
        });
        Left { loops: loops.collect(), ended: self.ended.split_off(ended) }
    }

    /// Adds the jumps that were found before.
    fn leave(&mut self, left: Left<F::State>) {
        for (open, [continued, broken]) in self.loops.iter_mut().zip(left.loops) {
            open.continued.extend(continued);
            open.broken.extend(broken);
        }
        self.ended.extend(left.ended);
    }
}

/// How many statements are inside one.
fn size(stmt: &Stmt) -> Number {
    stmt.kind.regions().into_iter().map(count).sum()
}

/// A value to which a statement gives a fact, and the fact.
type Begun<T> = Option<(Vec<Value>, T)>;

/// Follows facts from the values that have them to all values computed from these: `begins` returns the values to which a statement gives a
/// fact, `follows` those of its results that take the facts of its operands.
pub fn spread<T: Copy>(
    body: &Region,
    begins: &mut dyn FnMut(&Stmt) -> Begun<T>,
    follows: &mut dyn FnMut(&Stmt) -> Vec<Value>,
) -> ArenaMap<Value, T> {
    let mut spread = Spread { begins, follows, of: ArenaMap::default() };
    follow(&mut spread, body);
    spread.of
}

struct Spread<'a, T> {
    begins: &'a mut dyn FnMut(&Stmt) -> Begun<T>,
    follows: &'a mut dyn FnMut(&Stmt) -> Vec<Value>,
    of: ArenaMap<Value, T>,
}

impl<T: Copy> Spread<'_, T> {
    /// Gives a value a fact; whether it had none.
    fn mark(&mut self, value: Value, fact: T) -> bool {
        let new = !self.of.contains_idx(value);
        if new {
            self.of.insert(value, fact);
        }
        new
    }
}

impl<T: Copy> Flow for Spread<'_, T> {
    type State = ();

    const OF_VALUES: bool = true;

    fn cross(&mut self, stmt: &Stmt, (): &mut ()) {
        if let Some((values, fact)) = (self.begins)(stmt) {
            for value in values {
                self.mark(value, fact);
            }
        }
        if !stmt.kind.regions().is_empty() {
            // What its regions pass, it gives.
            return;
        }
        let fact = stmt.kind.operands().into_iter().find_map(|value| self.of.get(value).copied());
        if let Some(fact) = fact {
            for result in (self.follows)(stmt) {
                self.mark(result, fact);
            }
        }
    }

    fn join(&mut self, (): &mut (), (): &()) {}

    fn pass(&mut self, _: Passing, from: &[Value], to: &[Value], (): &mut ()) -> bool {
        let mut changed = false;
        for (&from, &to) in from.iter().zip(to) {
            if let Some(fact) = self.of.get(from).copied() {
                changed |= self.mark(to, fact);
            }
        }
        changed
    }
}

/// Statements to insert, by the number of the statement before or after which they come.
#[derive(Debug, Default)]
pub struct Insertions {
    /// Before a statement.
    pub before: BTreeMap<Number, Vec<Stmt>>,
    /// After one.
    pub after: BTreeMap<Number, Vec<Stmt>>,
}

impl Insertions {
    /// Puts the statements into the body that was numbered.
    pub fn insert(mut self, body: &mut Region) {
        if !self.before.is_empty() || !self.after.is_empty() {
            self.region(body, &mut 0);
        }
    }

    fn region(&mut self, region: &mut Region, next: &mut Number) {
        region.replace_each(|mut stmt, out| {
            let number = *next;
            *next += 1;
            out.extend(self.before.remove(&number).unwrap_or_default());
            for inner in stmt.kind.regions_mut() {
                self.region(inner, next);
            }
            out.push(stmt);
            out.extend(self.after.remove(&number).unwrap_or_default());
        });
    }
}

#[cfg(test)]
mod tests;
