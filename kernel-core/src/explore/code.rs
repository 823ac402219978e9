//! What of a kernel decides about order: the operations that access shared or tensor memory, announce or wait, the control flow around
//! them, and the scalars that these depend on.

use std::collections::BTreeSet;

use la_arena::ArenaMap;

use crate::{
    ir::{
        Access, Announcement, BarrierOp, Blocks, Effects, Kernel, Memory, Op, ProductOp, Region,
        ReportOp, Stmt, StmtKind, SyncOp, Terminator, Type, Value, Wait,
    },
    loc::Loc,
};

/// A region, of which only what matters is left.
pub(super) struct Code<'k> {
    pub(super) args: &'k [Value],
    pub(super) steps: Vec<Step<'k>>,
    pub(super) end: &'k Terminator,
}

/// A statement.
pub(super) struct Step<'k> {
    pub(super) at: Loc,
    /// Its number among all.
    pub(super) number: usize,
    pub(super) what: What<'k>,
}

/// An operation with its operands.
#[derive(Clone, Copy)]
pub(super) struct Applied<'k> {
    pub(super) op: &'k Op,
    pub(super) args: &'k [Value],
    pub(super) result: Option<Value>,
}

/// What a statement does.
pub(super) enum What<'k> {
    /// Computes a scalar, or gives a window or a barrier.
    Compute(Applied<'k>),
    /// Gives values that are known only when the kernel runs.
    Unknown(&'k [Value]),
    /// Accesses memory, announces or waits.
    Act(Applied<'k>, Effects),
    /// Stops the kernel unless a scalar holds.
    Assert(Value),
    If {
        condition: Value,
        sides: [Code<'k>; 2],
        results: &'k [Value],
        /// One side leaves a loop or the kernel: the condition says how often something is done.
        leaves: bool,
    },
    For {
        bounds: [Value; 3],
        inits: &'k [Value],
        body: Code<'k>,
        results: &'k [Value],
    },
    Loop {
        inits: &'k [Value],
        body: Code<'k>,
        results: &'k [Value],
    },
    /// The default part comes first.
    Parts {
        parts: Vec<Code<'k>>,
        results: &'k [Value],
    },
}

/// What matters of a kernel; none if nothing in it has to be ordered.
pub(super) fn of(kernel: &Kernel) -> Option<Code<'_>> {
    let mut slice = Slice { kernel, needed: ArenaMap::default(), changed: true, steps: 0 };
    if !slice.acts_in(&kernel.body) {
        return None;
    }
    while std::mem::take(&mut slice.changed) {
        slice.mark(&kernel.body, &mut Vec::new(), &[]);
    }
    Some(slice.code(&kernel.body))
}

/// A loop around a place: what it carries, and what it gives.
type Around<'k> = (&'k [Value], &'k [Value]);

struct Slice<'k> {
    kernel: &'k Kernel,
    needed: ArenaMap<Value, ()>,
    changed: bool,
    steps: usize,
}

impl Code<'_> {
    /// An operation with effects that is not among those that were reached.
    pub(super) fn unreached(&self, reached: &BTreeSet<usize>) -> Option<Loc> {
        self.steps.iter().find_map(|step| match &step.what {
            What::Act(..) => (!reached.contains(&step.number)).then_some(step.at),
            What::If { sides, .. } => sides.iter().find_map(|side| side.unreached(reached)),
            What::For { body, .. } | What::Loop { body, .. } => body.unreached(reached),
            What::Parts { parts, .. } => parts.iter().find_map(|part| part.unreached(reached)),
            What::Compute(_) | What::Unknown(_) | What::Assert(_) => None,
        })
    }
}

impl<'k> Slice<'k> {
    fn need(&mut self, value: Value) {
        if self.needed.insert(value, ()).is_none() {
            self.changed = true;
        }
    }

    fn needs(&self, values: &[Value]) -> bool {
        values.iter().any(|&value| self.needed.contains_idx(value))
    }

    /// Needs those of `from` that become a needed one of `to`.
    fn pass(&mut self, from: &[Value], to: &[Value]) {
        for (&from, &to) in from.iter().zip(to) {
            if self.needed.contains_idx(to) {
                self.need(from);
            }
        }
    }

    /// Whether other threads or asynchronous operations could notice an operation.
    fn acts(&self, stmt: &Stmt) -> Option<Effects> {
        let StmtKind::Op { op, args, result } = &stmt.kind else { return None };
        if op.is_pure() {
            return None;
        }
        let effects = self.kernel.effects(op, args, *result);
        let followed = |access: &Access| match access.memory {
            Memory::Shared(_) | Memory::TensorMemory(_) => true,
            Memory::Tensor(_) | Memory::Address(_) | Memory::Registers(_) => false,
        };
        let announces = effects.announces.is_some_and(|one| one != Announcement::NextGrid);
        let waits = effects.waits.iter().any(|wait| *wait != Wait::Grids);
        (announces || waits || effects.accesses.iter().any(followed)).then_some(effects)
    }

    fn acts_in(&self, region: &Region) -> bool {
        region.any_stmt(&mut |stmt| self.acts(stmt).is_some())
    }

    /// Whether a statement is left in the code.
    fn matters(&self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Op { op: Op::Assert(_) | Op::Report(ReportOp::Assert(_)), args, .. } => {
                matches!(self.kernel.ty(args[0]), Type::Scalar(_))
            }
            StmtKind::Op { result, .. } => {
                result.is_some_and(|result| self.needs(&[result])) || self.acts(stmt).is_some()
            }
            StmtKind::If { then, otherwise, results, .. } => {
                let sides = [then, otherwise];
                self.needs(results)
                    || sides.iter().any(|side| self.acts_in(side) || escapes(side, 0))
            }
            StmtKind::For { body, results, .. } | StmtKind::Loop { body, results, .. } => {
                self.needs(results) || self.acts_in(body) || escapes(body, 1)
            }
            StmtKind::Specialize { .. } => true,
            StmtKind::Reduce { results, .. }
            | StmtKind::Scan { results, .. }
            | StmtKind::Ptx { results, .. } => self.needs(results),
        }
    }

    /// Notes what the statements of a region that matter depend on; `results` receive what it yields.
    fn mark(&mut self, region: &'k Region, loops: &mut Vec<Around<'k>>, results: &'k [Value]) {
        let around = |depth: u32| loops.len().checked_sub(1 + depth as usize);
        match &region.end {
            Terminator::Return => {}
            Terminator::Yield(values) => self.pass(values, results),
            Terminator::Continue(depth, values) => {
                if let Some(at) = around(*depth) {
                    self.pass(values, loops[at].0);
                }
            }
            Terminator::Break(depth, values) => {
                if let Some(at) = around(*depth) {
                    self.pass(values, loops[at].1);
                }
            }
        }
        for stmt in region.stmts.iter().rev() {
            if self.matters(stmt) {
                self.stmt(stmt, loops);
            }
        }
    }

    fn stmt(&mut self, stmt: &'k Stmt, loops: &mut Vec<Around<'k>>) {
        match &stmt.kind {
            StmtKind::Op { op, args, .. } => self.op(op, args, stmt),
            StmtKind::If { condition, then, otherwise, results } => {
                self.need(*condition);
                self.mark(then, loops, results);
                self.mark(otherwise, loops, results);
            }
            StmtKind::For { from, to, step, inits, body, results } => {
                for bound in [*from, *to, *step] {
                    self.need(bound);
                }
                self.loop_of((inits, &body.args[1..], results), body, loops);
            }
            StmtKind::Loop { inits, body, results } => {
                self.loop_of((inits, &body.args, results), body, loops);
            }
            StmtKind::Specialize { default, partitions, results } => {
                self.mark(default, loops, results);
                for partition in partitions {
                    self.mark(&partition.body, loops, &[]);
                }
            }
            StmtKind::Reduce { .. } | StmtKind::Scan { .. } | StmtKind::Ptx { .. } => {}
        }
    }

    fn loop_of(
        &mut self,
        (inits, carried, results): (&'k [Value], &'k [Value], &'k [Value]),
        body: &'k Region,
        loops: &mut Vec<Around<'k>>,
    ) {
        self.pass(carried, results);
        loops.push((carried, results));
        self.mark(body, loops, &[]);
        loops.pop();
        self.pass(inits, carried);
        self.pass(inits, results);
    }

    /// Notes the operands that say where an operation acts, and whether.
    fn op(&mut self, op: &'k Op, args: &'k [Value], stmt: &Stmt) {
        let Some(effects) = self.acts(stmt) else {
            for &arg in args {
                self.need(arg);
            }
            return;
        };
        for &arg in args {
            match self.kernel.ty(arg) {
                Type::Shared(_) | Type::Barrier(_) | Type::TensorMemory(_) => self.need(arg),
                Type::Scalar(_) | Type::Tile(..) | Type::Error => {}
            }
        }
        if let Op::Sync(SyncOp::Barrier(BarrierOp::Expect | BarrierOp::Wait | BarrierOp::Test)) = op
        {
            self.need(args[1]);
        }
        if let Op::Product(ProductOp::Tcgen05(op)) = op {
            op.condition(args).into_iter().for_each(|condition| self.need(condition));
        }
        let mut blocks = Vec::new();
        if let Some(Announcement::Commit { blocks: of, .. }) = effects.announces {
            blocks.push(of);
        }
        for access in &effects.accesses {
            access.condition.into_iter().for_each(|condition| self.need(condition));
            blocks.push(access.blocks);
        }
        for blocks in blocks {
            if let Blocks::Masked(mask) = blocks {
                self.need(mask);
            }
        }
    }

    fn code(&mut self, region: &'k Region) -> Code<'k> {
        let mut steps = Vec::new();
        for stmt in &region.stmts {
            if self.matters(stmt) {
                let number = self.steps;
                self.steps += 1;
                steps.push(Step { at: stmt.loc, number, what: self.what(stmt) });
            }
        }
        Code { args: &region.args, steps, end: &region.end }
    }

    fn what(&mut self, stmt: &'k Stmt) -> What<'k> {
        match &stmt.kind {
            StmtKind::Op { op: Op::Assert(_) | Op::Report(ReportOp::Assert(_)), args, .. } => {
                What::Assert(args[0])
            }
            StmtKind::Op { op, args, result } => {
                let applied = Applied { op, args, result: *result };
                match self.acts(stmt) {
                    Some(effects) => What::Act(applied, effects),
                    None => What::Compute(applied),
                }
            }
            StmtKind::If { condition, then, otherwise, results } => What::If {
                condition: *condition,
                sides: [self.code(then), self.code(otherwise)],
                results,
                leaves: escapes(then, 0) || escapes(otherwise, 0),
            },
            StmtKind::For { from, to, step, inits, body, results } => {
                What::For { bounds: [*from, *to, *step], inits, body: self.code(body), results }
            }
            StmtKind::Loop { inits, body, results } => {
                What::Loop { inits, body: self.code(body), results }
            }
            StmtKind::Specialize { default, partitions, results } => {
                let mut parts = vec![self.code(default)];
                parts.extend(partitions.iter().map(|one| self.code(&one.body)));
                What::Parts { parts, results }
            }
            StmtKind::Reduce { results, .. }
            | StmtKind::Scan { results, .. }
            | StmtKind::Ptx { results, .. } => What::Unknown(results),
        }
    }
}

/// Whether a region of a statement leaves more than the `inside` loops that begin with the statement.
fn escapes(region: &Region, inside: u32) -> bool {
    let ends = match &region.end {
        Terminator::Return => true,
        Terminator::Yield(_) => false,
        Terminator::Continue(depth, _) | Terminator::Break(depth, _) => *depth >= inside,
    };
    ends || region.stmts.iter().any(|stmt| {
        let inside = inside + u32::from(stmt.kind.is_loop());
        stmt.kind.regions().into_iter().any(|region| escapes(region, inside))
    })
}
