//! Pipelined loops, rewritten.

use std::collections::BTreeMap;

use la_arena::{Arena, ArenaMap};

use super::super::{bound_of, is_pure, key, op as operation, statement};
use crate::{
    ir::{
        BarrierData, BarrierOp, BarrierType, Binary, Compare, Const, CopyOp, Dtype, Elem,
        ElementwiseOp, Kernel, MemoryOp, Op, Region, Shared, SharedData, Staged, Stmt, StmtKind,
        SyncOp, Terminator, Tma, TmaKind, Type, Value, ValueData, WindowOp,
    },
    loc::Loc,
};

/// Turns every loop with [`CopyOp::Staged`] into a ring.
///
/// # Requires
/// `check` found nothing.
pub fn pipeline(kernel: &mut Kernel) {
    let roots = kernel.body.allocations();
    let mut body = std::mem::take(&mut kernel.body);
    let mut pass = Pass {
        values: &mut kernel.values,
        shared: &mut kernel.shared,
        barriers: &mut kernel.barriers,
        roots,
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

struct Pass<'k> {
    values: &'k mut Arena<ValueData>,
    shared: &'k mut Arena<SharedData>,
    barriers: &'k mut Arena<BarrierData>,
    roots: ArenaMap<Value, Shared>,
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
struct Ring<'a> {
    head: &'a [Stmt],
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

/// The mbarriers of a ring.
#[derive(Clone, Copy)]
struct Full {
    /// The handle on all of them.
    barriers: Value,
    /// The bytes of the TMA copies of one iteration.
    bytes: i128,
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
        let ring = out.ring(&head, &rest, iv, found.stages);
        let mut limit = to;
        for ahead in 0..stages - 1 {
            let distance = out.int(ahead * step_by, &counter);
            let at = if ahead == 0 {
                from
            } else {
                limit = out.limit(to, ahead * step_by, &counter);
                out.op(Binary::Add, vec![from, distance], counter.clone())
            };
            let place = out.index(ahead);
            out.copies(&ring, [from, limit], at, place);
        }
        let limit = out.limit(to, (stages - 1) * step_by, &counter);
        let (first_read, first_write) = (out.index(0), out.index(stages - 1));
        let last = out.index(stages - 1);
        let [zero, one] = [0, 1].map(|value| out.index(value));
        let distance = out.int((stages - 1) * step_by, &counter);
        *before = out.stmts;

        let index = Type::scalar(Dtype::I32);
        let [read, write, phase] =
            [(); 3].map(|()| self.values.alloc(ValueData { ty: index.clone(), loc }));
        let mut out = Out { pass: self, stmts: Vec::new(), loc };
        let mut current = BTreeMap::new();
        for window in &ring.windows {
            current.insert(key(*window), out.place(*window, read));
        }
        // Statements that only compute: the rest of the iteration may use their values.
        let pure = head.iter().filter(|stmt| is_pure(stmt)).cloned().collect();
        let mut pure = Region { stmts: pure, ..Region::default() };
        replace(&mut pure, &current);
        out.stmts.append(&mut pure.stmts);
        if ring.groups {
            let pending = u32::try_from(stages - 2).expect("a number of stages is small");
            out.effect(CopyOp::Wait(pending));
        }
        out.effect(ring.meet.clone());
        let next = out.op(Binary::Add, vec![iv, distance], counter);
        out.copies(&ring, [iv, limit], next, write);
        if let Some(full) = ring.full {
            let barrier = out.barrier(full, read);
            out.stmts.push(operation(BarrierOp::Wait, vec![barrier, phase], None, loc));
        }
        let mut iteration = Region { stmts: rest, ..Region::default() };
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
        body.stmts = out.stmts;
        let mut ends = Vec::new();
        for (first, inside, next) in carried {
            inits.push(first);
            body.args.push(inside);
            if let Terminator::Continue(0, values) = &mut body.end {
                values.push(next);
            }
            ends.push(self.values.alloc(ValueData { ty: index.clone(), loc }));
        }
        results.extend(&ends);
        before.push(Stmt { kind: StmtKind::For { from, to, step, inits, body, results }, loc });
        before.push(statement(ring.meet, loc));
        if let (Some(full), Runs::InALoop, [read, _, phase]) = (ring.full, runs, &ends[..]) {
            let mut out = Out { pass: self, stmts: std::mem::take(before), loc };
            out.end_odd_phases(full, found.stages, *read, *phase);
            *before = out.stmts;
        }
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
    fn ring<'a>(&mut self, head: &'a [Stmt], rest: &[Stmt], iv: Value, stages: u32) -> Ring<'a> {
        let (mut windows, mut bytes, mut groups) = (Vec::new(), None, false);
        for stmt in head {
            let Some(window) = stmt.fills_ahead() else { continue };
            if matches!(stmt.kind, StmtKind::Op { op: Op::Copy(CopyOp::Tma(_)), .. }) {
                let Type::Shared(ty) = &self.pass.values[window].ty else {
                    unreachable!("ir::verify requires shared memory here")
                };
                let elements: i128 = ty.shape.iter().map(|extent| i128::from(*extent)).product();
                bytes = Some(bytes.unwrap_or(0) + elements * i128::from(ty.dtype.bytes()));
            } else {
                groups = true;
            }
            if !windows.contains(&window) {
                windows.push(window);
            }
        }
        let roots: Vec<Shared> = windows.iter().map(|window| self.pass.roots[*window]).collect();
        // A TMA copy overwrites what threads store, through another proxy (PTX ISA, "Proxies").
        let meet = if bytes.is_some() && self.pass.stores(rest, &roots) {
            Op::Sync(SyncOp::FenceAsync)
        } else {
            Op::Sync(SyncOp::Block)
        };
        for window in &windows {
            self.pass.make_ring(*window, stages);
        }
        let full = bytes.map(|bytes| {
            let data = BarrierData { ring: Some(stages), count: 1, loc: self.loc };
            let root = self.pass.barriers.alloc(data);
            let ty = Type::Barrier(BarrierType { root, ring: true, remote: false });
            let barriers = self.op(BarrierOp::Alloc(root), Vec::new(), ty);
            Full { barriers, bytes }
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
                out.expect(barrier, 0);
            });
        }
    }

    /// One arrival at a barrier, which also waits for this many bytes.
    fn expect(&mut self, barrier: Value, bytes: i128) {
        let bytes = self.index(bytes);
        self.stmts.push(operation(BarrierOp::Expect, vec![barrier, bytes], None, self.loc));
    }

    /// `if condition { .. }`
    fn when(&mut self, condition: Value, then: impl FnOnce(&mut Out<'_, '_>)) {
        let mut inner = Out { pass: &mut *self.pass, stmts: Vec::new(), loc: self.loc };
        then(&mut inner);
        let then =
            Region { args: Vec::new(), stmts: inner.stmts, end: Terminator::Yield(Vec::new()) };
        let otherwise = Region { end: Terminator::Yield(Vec::new()), ..Region::default() };
        self.stmts.push(Stmt {
            kind: StmtKind::If { condition, then, otherwise, results: Vec::new() },
            loc: self.loc,
        });
    }

    /// What an iteration is less than if there is one `distance` after it. See [`nearest_bound`](crate::schedule::nearest_bound).
    fn limit(&mut self, to: Value, distance: i128, ty: &Type) -> Value {
        let Some(Elem::Number(dtype)) = ty.elem() else { unreachable!("loops count integers") };
        let bound = self.int(bound_of(dtype, distance), ty);
        let nearest = self.op(Binary::Max, vec![to, bound], ty.clone());
        let distance = self.int(distance, ty);
        self.op(Binary::Sub, vec![nearest, distance], ty.clone())
    }

    /// `if less[0] < less[1] { the copies of iteration at, into a place }; commit`
    fn copies(&mut self, ring: &Ring<'_>, less: [Value; 2], at: Value, place: Value) {
        let condition = self.op(Compare::Lt, less.to_vec(), Type::scalar(Dtype::Bool));
        self.when(condition, |inner| {
            let mut map = BTreeMap::from([(key(ring.iv), at)]);
            for window in &ring.windows {
                let one = inner.place(*window, place);
                map.insert(key(*window), one);
            }
            let barrier = ring.full.map(|full| {
                let barrier = inner.barrier(full, place);
                inner.expect(barrier, full.bytes);
                barrier
            });
            for stmt in ring.head {
                let StmtKind::Op { op, args, result } = &stmt.kind else { continue };
                let mut args: Vec<Value> =
                    args.iter().map(|arg| map.get(&key(*arg)).copied().unwrap_or(*arg)).collect();
                let mut op = op.clone();
                if let (Op::Copy(CopyOp::Tma(tma)), Some(barrier)) = (&mut op, barrier) {
                    *tma = Tma { kind: TmaKind::Load, ..*tma };
                    // Before the window.
                    args.insert(args.len() - 1, barrier);
                }
                let result = result.map(|old| {
                    let data = inner.pass.values[old].clone();
                    let new = inner.pass.values.alloc(data);
                    map.insert(key(old), new);
                    new
                });
                inner.stmts.push(Stmt { kind: StmtKind::Op { op, args, result }, loc: stmt.loc });
            }
        });
        if ring.groups {
            self.effect(CopyOp::Commit);
        }
    }
}

/// Puts other values in the place of some, in every statement and region.
fn replace(region: &mut Region, map: &BTreeMap<u32, Value>) {
    let swap = |value: &mut Value| {
        if let Some(new) = map.get(&key(*value)) {
            *value = *new;
        }
    };
    for stmt in &mut region.stmts {
        stmt.kind.operands_mut().into_iter().for_each(swap);
        stmt.kind.regions_mut().into_iter().for_each(|body| replace(body, map));
    }
    region.end.values_mut().iter_mut().for_each(swap);
}
