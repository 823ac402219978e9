//! Pipelined loops, rewritten.

use std::collections::{BTreeMap, BTreeSet};

use la_arena::{Arena, ArenaMap};

use super::super::{bound_of, op as operation, statement};
use super::head::{Head, Loads, MOST_ROUNDS};
use crate::{
    ir::{
        BarrierData, BarrierOp, BarrierType, Binary, Compare, Const, Copier, CopyOp, Dtype, Elem,
        ElementwiseOp, Kernel, MemoryOp, Op, Region, Shared, SharedData, Staged, Stmt, StmtKind,
        SyncOp, Terminator, TileOp, Tma, TmaKind, Type, Value, ValueData, WindowOp,
    },
    loc::Loc,
};

/// Turns every loop with [`CopyOp::Staged`] into a ring.
///
/// # Requires
/// `check` found nothing.
pub fn pipeline(kernel: &mut Kernel) {
    let roots = kernel.body.allocations();
    let constant_loads = kernel.constant_loads();
    let mut body = std::mem::take(&mut kernel.body);
    let mut pass = Pass {
        values: &mut kernel.values,
        shared: &mut kernel.shared,
        barriers: &mut kernel.barriers,
        roots,
        constant_loads,
        constants: body.constants(),
    };
    pass.region(&mut body, Runs::Once);
    kernel.body = body;
}

/// How often a block reaches a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runs {
    Once,
    InALoop,
}

pub(super) struct Pass<'k> {
    pub(super) values: &'k mut Arena<ValueData>,
    shared: &'k mut Arena<SharedData>,
    barriers: &'k mut Arena<BarrierData>,
    roots: ArenaMap<Value, Shared>,
    /// What is loaded from memory that nothing writes.
    pub(super) constant_loads: BTreeSet<Value>,
    constants: ArenaMap<Value, i128>,
}

/// Statements that are being put into a region.
struct Out<'p, 'k> {
    pass: &'p mut Pass<'k>,
    stmts: Vec<Stmt>,
    loc: Loc,
}

impl Out<'_, '_> {
    fn op(&mut self, op: impl Into<Op>, args: Vec<Value>, ty: Type) -> Value {
        let result = self.pass.values.alloc(ValueData { ty, loc: self.loc });
        let kind = StmtKind::Op { op: op.into(), args, result: Some(result) };
        self.stmts.push(Stmt { kind, loc: self.loc });
        result
    }

    fn effect(&mut self, op: impl Into<Op>) {
        self.stmts.push(statement(op, self.loc));
    }

    fn int(&mut self, value: i128, ty: &Type) -> Value {
        self.op(Const::Int(value), Vec::new(), ty.clone())
    }

    fn index(&mut self, value: i128) -> Value {
        self.int(value, &Type::scalar(Dtype::I32))
    }

    /// One place of a ring.
    fn place(&mut self, ring: Value, at: Value) -> Value {
        let Type::Shared(whole) = self.pass.values[ring].ty.clone() else {
            unreachable!("a ring is shared memory")
        };
        let mut one = whole;
        one.shape.remove(0);
        self.op(WindowOp::Index, vec![ring, at], Type::Shared(one))
    }
}

/// A loop that is being rewritten.
struct Ring {
    head: Head,
    iv: Value,
    /// The handles that the copies fill.
    windows: Vec<Value>,
    /// Whether there are copies that complete in groups.
    groups: bool,
    /// Where TMA copies complete, if there are any.
    full: Option<Full>,
    /// The barrier or fence between the last use of a place and the copy that fills it again.
    meet: Op,
}

/// The iterations of a loop.
struct Iterations {
    from: Value,
    to: Value,
    step: i128,
    counter: Type,
}

impl Iterations {
    /// In how many iterations before the copies indices are loaded: the loop variable counts so far.
    fn rounds(&self, stages: i128) -> usize {
        let Some(Elem::Number(dtype)) = self.counter.elem() else {
            unreachable!("loops count integers")
        };
        let distances = (stages..).map(|ahead| ahead * self.step);
        distances.take(MOST_ROUNDS).filter(|distance| *distance <= dtype.largest_int()).count()
    }
}

/// The mbarriers of a ring.
#[derive(Clone, Copy)]
struct Full {
    /// The handle on all of them.
    barriers: Value,
    /// How often threads arrive in one iteration.
    arrivals: u32,
}

impl Pass<'_> {
    fn region(&mut self, region: &mut Region, runs: Runs) {
        region.replace_each(|mut stmt, out| {
            let inside = if stmt.kind.is_loop() { Runs::InALoop } else { runs };
            stmt.kind.regions_mut().into_iter().for_each(|body| self.region(body, inside));
            if let StmtKind::For { body, .. } = &mut stmt.kind
                && let Some(found) = body.staged()
            {
                self.rewrite(stmt, &found, runs, out);
            } else {
                out.push(stmt);
            }
        });
    }

    fn rewrite(&mut self, stmt: Stmt, found: &Staged, runs: Runs, before: &mut Vec<Stmt>) {
        let StmtKind::For { from, to, step, mut inits, mut body, mut results } = stmt.kind else {
            unreachable!("only counted loops are staged")
        };
        let loc = stmt.loc;
        let stages = i128::from(found.stages);
        let mut head = std::mem::take(&mut body.stmts);
        let mut rest = head.split_off(found.at + 1);
        head.pop();
        // The barrier at the end of the iteration is not needed: there is one at the start of the next.
        rest.pop();
        let iv = body.args[0];
        let step_by = *self.constants.get(step).expect("check has seen the step");
        let counter = self.values[iv].ty.clone();

        let mut out = Out { pass: self, stmts: std::mem::take(before), loc };
        let used = rest.iter().flat_map(|stmt| stmt.kind.mentioned());
        let used = used.chain(body.end.values().iter().copied()).collect();
        let iterations = Iterations { from, to, step: step_by, counter: counter.clone() };
        let head = Head::of(&head, used, out.pass, iterations.rounds(stages));
        let ring = out.ring(head, &rest, iv, found.stages);
        let indices = out.first_indices(&ring, &iterations, stages);
        for ahead in 0..stages - 1 {
            let (at, limit) = out.iteration(&iterations, ahead);
            let place = out.index(ahead);
            let known = usize::try_from(ahead).expect("a number of stages is small");
            let known = indices.first().map_or(&[][..], |round| &round[known]);
            out.copies(&ring, known, [from, limit], at, place);
        }
        let limit = out.limit(to, (stages - 1) * step_by, &counter);
        let (first_read, first_write) = (out.index(0), out.index(stages - 1));
        let last = out.index(stages - 1);
        let [zero, one] = [0, 1].map(|value| out.index(value));
        let distance = out.int((stages - 1) * step_by, &counter);
        let later = out.later(&ring, &iterations, stages);
        *before = out.stmts;

        let index = Type::scalar(Dtype::I32);
        let [read, write, phase] =
            [(); 3].map(|()| self.values.alloc(ValueData { ty: index.clone(), loc }));
        let mut known: Vec<Vec<Value>> = Vec::new();
        for round in &ring.head.loads {
            known.push(round.carried.iter().map(|&value| self.like(value)).collect());
        }
        let mut out = Out { pass: self, stmts: Vec::new(), loc };
        let mut current = BTreeMap::new();
        for window in &ring.windows {
            current.insert(*window, out.place(*window, read));
        }
        // The rest of the iteration may use what the head computes.
        let [mut again, mut iteration] = [ring.head.again.clone(), ring.head.later.clone()]
            .map(|stmts| Region { stmts, ..Region::default() });
        replace(&mut again, &current);
        out.stmts.append(&mut again.stmts);
        if ring.groups {
            let pending = u32::try_from(stages - 2).expect("a number of stages is small");
            out.effect(CopyOp::Wait(pending));
        }
        out.effect(ring.meet.clone());
        let next = out.op(Binary::Add, vec![iv, distance], counter.clone());
        out.copies(&ring, known.first().map_or(&[], Vec::as_slice), [iv, limit], next, write);
        let next_known = out.next_indices(&ring, &known, &later, iv);
        if let Some(full) = ring.full {
            let barrier = out.barrier(full, read);
            out.stmts.push(operation(BarrierOp::Wait, vec![barrier, phase], None, loc));
        }
        iteration.stmts.extend(rest);
        replace(&mut iteration, &current);
        out.stmts.append(&mut iteration.stmts);
        let following = |out: &mut Out<'_, '_>, at: Value| {
            let wraps = out.op(Compare::Eq, vec![at, last], Type::scalar(Dtype::Bool));
            let next = out.op(Binary::Add, vec![at, one], index.clone());
            (wraps, out.op(ElementwiseOp::Select, vec![wraps, zero, next], index.clone()))
        };
        let (round, next_read) = following(&mut out, read);
        let (_, next_write) = following(&mut out, write);
        let mut carried = vec![(first_read, read, next_read), (first_write, write, next_write)];
        if ring.full.is_some() {
            let other = out.op(Binary::Sub, vec![one, phase], index.clone());
            let next = out.op(ElementwiseOp::Select, vec![round, other, phase], index.clone());
            carried.push((zero, phase, next));
        }
        for ((firsts, inside), next) in indices.iter().zip(&known).zip(&next_known) {
            let firsts = firsts.last().into_iter().flatten();
            let values = firsts.zip(inside).zip(next);
            carried.extend(values.map(|((first, inside), next)| (*first, *inside, *next)));
        }
        body.stmts = out.stmts;
        let mut ends = Vec::new();
        for (first, inside, next) in carried {
            inits.push(first);
            body.args.push(inside);
            if let Terminator::Continue(0, values) = &mut body.end {
                values.push(next);
            }
            ends.push(self.like(inside));
        }
        results.extend(&ends);
        before.push(Stmt { kind: StmtKind::For { from, to, step, inits, body, results }, loc });
        before.push(statement(ring.meet, loc));
        if let (Some(full), Runs::InALoop, [read, _, phase, ..]) = (ring.full, runs, &ends[..]) {
            let mut out = Out { pass: self, stmts: std::mem::take(before), loc };
            out.end_odd_phases(full, found.stages, *read, *phase);
            *before = out.stmts;
        }
    }

    /// A value of the same type.
    fn like(&mut self, value: Value) -> Value {
        let data = self.values[value].clone();
        self.values.alloc(data)
    }

    /// Whether threads write to one of these allocations.
    fn stores(&self, stmts: &[Stmt], roots: &[Shared]) -> bool {
        stmts.iter().any(|stmt| {
            let here = matches!(&stmt.kind, StmtKind::Op {
                    op: Op::Memory(
                        MemoryOp::StoreShared | MemoryOp::ScatterShared | MemoryOp::AtomicShared(_)
                    ),
                    args,
                    ..
                }
                if self.values[args[0]].ty.shared().is_some_and(|ty| roots.contains(&ty.root)));
            here || stmt.kind.regions().into_iter().any(|inner| self.stores(&inner.stmts, roots))
        })
    }

    /// Gives an allocation a place for each stage.
    fn make_ring(&mut self, window: Value, stages: u32) {
        let root = self.roots[window];
        self.shared[root].shape.insert(0, stages);
        if let Type::Shared(ty) = &mut self.values[window].ty {
            ty.shape.insert(0, stages);
        }
    }
}

impl Out<'_, '_> {
    /// Gives the allocations that the copies fill their places, and the TMA copies their barriers.
    fn ring(&mut self, head: Head, rest: &[Stmt], iv: Value, stages: u32) -> Ring {
        let (mut windows, mut groups) = (Vec::new(), false);
        for stmt in &head.copies {
            stmt.each_copy_ahead(&mut |copy, window| {
                groups |= !is_tma(copy);
                if !windows.contains(&window) {
                    windows.push(window);
                }
            });
        }
        let roots: Vec<Shared> = windows.iter().map(|window| self.pass.roots[*window]).collect();
        let arrivals = arrivals(&head.copies);
        // A TMA copy overwrites what threads store, through another proxy (PTX ISA, "Proxies").
        let meet = if arrivals > 0 && self.pass.stores(rest, &roots) {
            Op::Sync(SyncOp::FenceAsync)
        } else {
            Op::Sync(SyncOp::Block)
        };
        for window in &windows {
            self.pass.make_ring(*window, stages);
        }
        let full = (arrivals > 0).then(|| {
            let data =
                BarrierData { ring: Some(stages), count: arrivals, name: None, loc: self.loc };
            let root = self.pass.barriers.alloc(data);
            let ty = Type::Barrier(BarrierType { root, ring: true, remote: false });
            let barriers = self.op(BarrierOp::Alloc(root), Vec::new(), ty);
            Full { barriers, arrivals }
        });
        Ring { head, iv, windows, groups, full, meet }
    }

    /// The mbarrier of one place of a ring.
    fn barrier(&mut self, full: Full, place: Value) -> Value {
        let Type::Barrier(ty) = self.pass.values[full.barriers].ty else {
            unreachable!("made as barriers")
        };
        let one = Type::Barrier(BarrierType { ring: false, ..ty });
        self.op(BarrierOp::Index, vec![full.barriers, place], one)
    }

    /// Ends once more the phases of the places that were filled an odd number of times: of those before `read`, which the last
    /// round has come to, and of the others.
    fn end_odd_phases(&mut self, full: Full, stages: u32, read: Value, phase: Value) {
        let number = Type::scalar(Dtype::I32);
        let bool = Type::scalar(Dtype::Bool);
        let one = self.index(1);
        let other = self.op(Binary::Sub, vec![one, phase], number.clone());
        for place in 0..stages {
            let place = self.index(i128::from(place));
            let once_more = self.op(Compare::Lt, vec![place, read], bool.clone());
            let parity =
                self.op(ElementwiseOp::Select, vec![once_more, other, phase], number.clone());
            let odd = self.op(Compare::Eq, vec![parity, one], bool.clone());
            self.when(odd, |out| {
                let barrier = out.barrier(full, place);
                (0..full.arrivals).for_each(|_| out.expect(barrier, 0));
            });
        }
    }

    /// One arrival at a barrier, which also waits for this many bytes.
    fn expect(&mut self, barrier: Value, bytes: i128) {
        let bytes = self.index(bytes);
        self.stmts.push(operation(BarrierOp::Expect, vec![barrier, bytes], None, self.loc));
    }

    /// `if condition { then } else { otherwise }`, each of which gives values like these.
    fn choose(
        &mut self,
        condition: Value,
        like: &[Value],
        then: impl FnOnce(&mut Out<'_, '_>) -> Vec<Value>,
        otherwise: impl FnOnce(&mut Out<'_, '_>) -> Vec<Value>,
    ) -> Vec<Value> {
        let loc = self.loc;
        let mut inner = Out { pass: &mut *self.pass, stmts: Vec::new(), loc };
        let ends = then(&mut inner);
        let then = Region { args: Vec::new(), stmts: inner.stmts, end: Terminator::Yield(ends) };
        let mut inner = Out { pass: &mut *self.pass, stmts: Vec::new(), loc };
        let ends = otherwise(&mut inner);
        let otherwise =
            Region { args: Vec::new(), stmts: inner.stmts, end: Terminator::Yield(ends) };
        let results: Vec<Value> = like.iter().map(|&value| self.pass.like(value)).collect();
        let kind = StmtKind::If { condition, then, otherwise, results: results.clone() };
        self.stmts.push(Stmt { kind, loc });
        results
    }

    /// `if condition { .. }`
    fn when(&mut self, condition: Value, then: impl FnOnce(&mut Out<'_, '_>)) {
        let then = |out: &mut Out<'_, '_>| {
            then(out);
            Vec::new()
        };
        self.choose(condition, &[], then, |_| Vec::new());
    }

    /// The iteration that is `ahead` after the first one, and what the first one is less than if it exists.
    fn iteration(&mut self, iterations: &Iterations, ahead: i128) -> (Value, Value) {
        let distance = self.int(ahead * iterations.step, &iterations.counter);
        if ahead == 0 {
            return (iterations.from, iterations.to);
        }
        let limit = self.limit(iterations.to, ahead * iterations.step, &iterations.counter);
        (self.op(Binary::Add, vec![iterations.from, distance], iterations.counter.clone()), limit)
    }

    /// Zeros of the type of a value.
    fn zeros(&mut self, like: Value) -> Value {
        let ty = self.pass.values[like].ty.clone();
        let Some(Elem::Number(dtype)) = ty.elem() else {
            unreachable!("`Head::of` carries integers alone")
        };
        let zero = self.int(0, &Type::scalar(dtype));
        if ty.shape().is_empty() { zero } else { self.op(TileOp::Splat, vec![zero], ty) }
    }

    /// What an iteration is less than if there is one `distance` after it. See [`nearest_bound`](crate::schedule::nearest_bound).
    fn limit(&mut self, to: Value, distance: i128, ty: &Type) -> Value {
        let Some(Elem::Number(dtype)) = ty.elem() else { unreachable!("loops count integers") };
        let bound = self.int(bound_of(dtype, distance), ty);
        let nearest = self.op(Binary::Max, vec![to, bound], ty.clone());
        let distance = self.int(distance, ty);
        self.op(Binary::Sub, vec![nearest, distance], ty.clone())
    }

    /// For each round of loads, what an iteration is less than if there is one to load for, and how far that one is ahead.
    fn later(&mut self, ring: &Ring, iterations: &Iterations, stages: i128) -> Vec<(Value, Value)> {
        let mut later = Vec::new();
        for (_, ahead) in ring.head.loads.iter().zip(stages..) {
            let limit = self.limit(iterations.to, ahead * iterations.step, &iterations.counter);
            later.push((limit, self.int(ahead * iterations.step, &iterations.counter)));
        }
        later
    }

    /// What each round loads in an iteration, of what the round before it loaded in the one before.
    fn next_indices(
        &mut self,
        ring: &Ring,
        known: &[Vec<Value>],
        later: &[(Value, Value)],
        iv: Value,
    ) -> Vec<Vec<Value>> {
        let counter = self.pass.values[iv].ty.clone();
        let mut next_known = Vec::new();
        for (round, (limit, distance)) in later.iter().enumerate() {
            let next = self.op(Binary::Add, vec![iv, *distance], counter.clone());
            let given = known.get(round + 1).map_or(&[][..], Vec::as_slice);
            next_known.push(self.indices(ring, round, given, [iv, *limit], next));
        }
        next_known
    }

    /// What the loads of each round give in each of the iterations that start before the loop, and in the one that the first iteration needs.
    fn first_indices(
        &mut self,
        ring: &Ring,
        iterations: &Iterations,
        stages: i128,
    ) -> Vec<Vec<Vec<Value>>> {
        let mut rounds: Vec<Vec<Vec<Value>>> = Vec::new();
        let mut count = stages + i128::try_from(ring.head.loads.len()).expect("a few rounds");
        for round in (0..ring.head.loads.len()).rev() {
            count -= 1;
            let mut values = Vec::new();
            for ahead in 0..count {
                let (at, limit) = self.iteration(iterations, ahead);
                let given = rounds.last().map_or(&[][..], |before| before[values.len()].as_slice());
                values.push(self.indices(ring, round, given, [iterations.from, limit], at));
            }
            rounds.push(values);
        }
        rounds.reverse();
        rounds
    }

    /// `if less[0] < less[1] { the indices of iteration at } else { zeros }`: those that the loads of a round give, of the ones `given` by the
    /// round before it.
    fn indices(
        &mut self,
        ring: &Ring,
        round: usize,
        given: &[Value],
        less: [Value; 2],
        at: Value,
    ) -> Vec<Value> {
        let condition = self.op(Compare::Lt, less.to_vec(), Type::scalar(Dtype::Bool));
        let Loads { stmts, carried } = &ring.head.loads[round];
        let mut map = BTreeMap::from([(ring.iv, at)]);
        if let Some(before) = ring.head.loads.get(round + 1) {
            map.extend(before.carried.iter().copied().zip(given.iter().copied()));
        }
        let load = |inner: &mut Out<'_, '_>| {
            let mut copier = Copier::new(inner.pass.values, map);
            inner.stmts.extend(stmts.iter().map(|stmt| copier.stmt(stmt)));
            carried.iter().map(|&value| copier.value(value)).collect()
        };
        self.choose(condition, carried, load, |inner| {
            carried.iter().map(|&value| inner.zeros(value)).collect()
        })
    }

    /// `if less[0] < less[1] { the copies of iteration at, into a place }; commit`
    fn copies(
        &mut self,
        ring: &Ring,
        indices: &[Value],
        less: [Value; 2],
        at: Value,
        place: Value,
    ) {
        let condition = self.op(Compare::Lt, less.to_vec(), Type::scalar(Dtype::Bool));
        self.when(condition, |inner| {
            let mut map = BTreeMap::from([(ring.iv, at)]);
            if let Some(round) = ring.head.loads.first() {
                map.extend(round.carried.iter().copied().zip(indices.iter().copied()));
            }
            for window in &ring.windows {
                let one = inner.place(*window, place);
                map.insert(*window, one);
            }
            let barrier = ring.full.map(|full| inner.barrier(full, place));
            let mut copier = Copier::new(inner.pass.values, map);
            let mut stmts = ring.head.copies.iter().map(|stmt| copier.stmt(stmt)).collect();
            if let Some(barrier) = barrier {
                inner.complete_on(barrier, &mut stmts);
            }
            inner.stmts.append(&mut stmts);
        });
        if ring.groups {
            self.effect(CopyOp::Commit);
        }
    }

    /// Gives the TMA copies of statements their barrier, and puts before them what it expects. On every path there are as many arrivals.
    fn complete_on(&mut self, barrier: Value, stmts: &mut Vec<Stmt>) {
        let mut bytes = 0;
        for stmt in stmts.iter_mut() {
            if let StmtKind::If { then, otherwise, .. } = &mut stmt.kind {
                let of = [&*then, &*otherwise].map(|side| arrivals(&side.stmts));
                let most = of[0].max(of[1]);
                for (side, of) in [then, otherwise].into_iter().zip(of) {
                    self.complete_on(barrier, &mut side.stmts);
                    let mut inner = Out { pass: &mut *self.pass, stmts: Vec::new(), loc: stmt.loc };
                    (of..most).for_each(|_| inner.expect(barrier, 0));
                    side.stmts.append(&mut inner.stmts);
                }
            }
            let StmtKind::Op { op: Op::Copy(CopyOp::Tma(tma)), args, .. } = &mut stmt.kind else {
                continue;
            };
            let window = args.last().and_then(|window| self.pass.values[*window].ty.shared());
            let ty = window.expect("ir::verify requires shared memory here");
            let elements: i128 = ty.shape.iter().map(|extent| i128::from(*extent)).product();
            bytes += elements * i128::from(ty.dtype.bytes());
            tma.kind = TmaKind::Load;
            // Before the window.
            args.insert(args.len() - 1, barrier);
        }
        if bytes > 0 {
            let mut first = Out { pass: &mut *self.pass, stmts: Vec::new(), loc: self.loc };
            first.expect(barrier, bytes);
            first.stmts.append(stmts);
            *stmts = first.stmts;
        }
    }
}

fn is_tma(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Op { op: Op::Copy(CopyOp::Tma(Tma { .. })), .. })
}

/// How often threads arrive for the TMA copies of statements: once for those that stand together, and in a branch as often as on the path with
/// the most.
fn arrivals(stmts: &[Stmt]) -> u32 {
    let together = u32::from(stmts.iter().any(is_tma));
    let inside = stmts.iter().map(|stmt| {
        let sides = stmt.kind.regions().into_iter().map(|side| arrivals(&side.stmts));
        sides.max().unwrap_or(0)
    });
    together + inside.sum::<u32>()
}

/// Puts other values in the place of some, in every statement and region.
fn replace(region: &mut Region, map: &BTreeMap<Value, Value>) {
    let swap = |value: &mut Value| {
        if let Some(new) = map.get(value) {
            *value = *new;
        }
    };
    for stmt in &mut region.stmts {
        stmt.kind.operands_mut().into_iter().for_each(swap);
        stmt.kind.regions_mut().into_iter().for_each(|body| replace(body, map));
    }
    region.end.values_mut().iter_mut().for_each(swap);
}
