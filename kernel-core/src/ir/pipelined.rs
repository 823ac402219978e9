//! Loops over `pipeline(range, stages)`: what of an iteration the schedule starts ahead.
//!
//! An iteration begins with its *head*: the copies, what computes or loads where they read, and branches of such statements. The schedule
//! runs the head some iterations ahead. [`CopyOp::Staged`] stands behind it:
//!
//! ```text
//! for k { page = load table[k]; if page >= 0 { copy_async cache[page] -> s }; staged; if page >= 0 { .. use of s .. }; sync }
//! ```
//!
//! A branch that begins with copies and goes on, `if page >= 0 { copy_async ..; .. use of s .. }`, becomes the two of this example. What only
//! reads the data of some copies may stand before others, and comes after them then, as do stamps.

use std::collections::{BTreeMap, BTreeSet};

use la_arena::{Arena, ArenaMap};

use super::{
    CopyOp, Elem, Kernel, MemoryOp, Op, ParamKind, Region, ReportOp, Shared, SourceOp, Stmt,
    StmtKind, SyncOp, Terminator, Tma, TmaKind, Value, ValueData, WindowOp,
};
use crate::loc::Loc;

/// What of an iteration stands before [`CopyOp::Staged`], and how many places the ring has.
#[derive(Clone, Copy, Debug)]
pub struct Staged {
    /// How many statements.
    pub at: usize,
    /// The places.
    pub stages: u32,
}

impl Region {
    /// Whether this is the body of a pipelined loop.
    pub fn staged(&self) -> Option<Staged> {
        self.stmts.iter().enumerate().find_map(|(at, stmt)| {
            let StmtKind::Op { op: Op::Copy(CopyOp::Staged(stages)), .. } = &stmt.kind else {
                return None;
            };
            Some(Staged { at, stages: *stages })
        })
    }

    /// Makes this the body of a pipelined loop. The function `stage` finds out what its head is.
    pub fn pipeline(&mut self, stages: u32, loc: Loc) {
        let effect = |op| Stmt { kind: StmtKind::Op { op, args: Vec::new(), result: None }, loc };
        self.stmts.insert(0, effect(Op::Copy(CopyOp::Staged(stages))));
        self.stmts.push(effect(Op::Sync(SyncOp::Block)));
    }

    /// The allocation that each handle on a whole one stands for.
    pub fn allocations(&self) -> ArenaMap<Value, Shared> {
        let mut found = ArenaMap::default();
        self.each_op(&mut |op, _, result, _| {
            if let (Op::Window(WindowOp::Alloc(root)), Some(result)) = (op, result) {
                found.insert(result, *root);
            }
        });
        found
    }
}

/// Puts [`CopyOp::Staged`] behind the head of every pipelined loop in a region.
pub(crate) fn stage(region: &mut Region, values: &mut Arena<ValueData>) {
    for stmt in &mut region.stmts {
        stmt.kind.regions_mut().into_iter().for_each(|inner| stage(inner, values));
    }
    let Some(Staged { at, .. }) = region.staged() else { return };
    let marker = region.stmts.remove(at);
    branch_on_conditions(region);
    let filled = filled(&region.stmts, values);
    let at = Division { values, filled: &filled }.separate(&mut region.stmts);
    region.stmts.insert(at, marker);
}

/// The handles on allocations that copies among statements fill.
pub fn filled(stmts: &[Stmt], values: &Arena<ValueData>) -> BTreeSet<Value> {
    let root = |value: Value| values[value].ty.shared().map(|ty| ty.root);
    let mut roots = BTreeSet::new();
    for stmt in stmts {
        stmt.each_copy_ahead(&mut |_, window| roots.extend(root(window)));
    }
    let handles = values.iter().map(|(value, _)| value);
    handles.filter(|&value| root(value).is_some_and(|root| roots.contains(&root))).collect()
}

/// Turns copies with a condition of their own into branches.
fn branch_on_conditions(region: &mut Region) {
    region.replace_each(|mut stmt, out| {
        if let StmtKind::If { then, otherwise, .. } = &mut stmt.kind {
            branch_on_conditions(then);
            branch_on_conditions(otherwise);
        }
        let StmtKind::Op { op: Op::Copy(CopyOp::Tma(tma)), args, .. } = &mut stmt.kind else {
            return out.push(stmt);
        };
        if !(tma.guarded && tma.kind == TmaKind::Staged) {
            return out.push(stmt);
        }
        tma.guarded = false;
        // Before the window.
        let condition = args.remove(args.len() - 2);
        let loc = stmt.loc;
        let end = || Terminator::Yield(Vec::new());
        let then = Region { stmts: vec![stmt], end: end(), ..Region::default() };
        let otherwise = Region { end: end(), ..Region::default() };
        let kind = StmtKind::If { condition, then, otherwise, results: Vec::new() };
        out.push(Stmt { kind, loc });
    });
}

/// The division of iterations into heads and the rest.
struct Division<'v> {
    values: &'v mut Arena<ValueData>,
    /// The handles on what the copies fill.
    filled: &'v BTreeSet<Value>,
}

/// Where a statement goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// To the head.
    Head,
    /// Behind it, though there may be copies after it: it reads what they, or others, copy, or is a stamp.
    Reads,
    /// It stays, with all that follows.
    Rest,
}

impl Division<'_> {
    /// How many statements are the head, which come first then. Branches that hold copies and more become two. What reads what is copied
    /// before the last of the copies comes after them.
    fn separate(&mut self, stmts: &mut Vec<Stmt>) -> usize {
        let mut placed: Vec<(Part, Stmt)> = Vec::new();
        // What the statements make, and which allocations they read, that come after the copies.
        let (mut made, mut read) = (BTreeSet::new(), BTreeSet::new());
        let mut stopped = false;
        for stmt in std::mem::take(stmts) {
            let divisible = self.holds_more_than_copies(&stmt);
            let parts = if !stopped && divisible && self.starts_copies(std::slice::from_ref(&stmt))
            {
                Vec::from(self.divided(stmt))
            } else {
                vec![stmt]
            };
            for stmt in parts {
                let mentioned = stmt.kind.mentioned();
                let mut fills_what_is_read = false;
                stmt.each_copy_ahead(&mut |_, window| {
                    fills_what_is_read |=
                        self.root(window).is_some_and(|root| read.contains(&root));
                });
                let depends =
                    fills_what_is_read || mentioned.iter().any(|value| made.contains(value));
                let part = if stopped {
                    Part::Rest
                } else if !depends && stmt.goes_ahead(self.filled) {
                    Part::Head
                } else if stmt.only_reads() || stmt.is_stamp() {
                    made.extend(stmt.kind.results());
                    read.extend(mentioned.iter().filter_map(|&value| self.root(value)));
                    Part::Reads
                } else {
                    stopped = true;
                    Part::Rest
                };
                placed.push((part, stmt));
            }
        }
        let is_copy = |(part, stmt): &(Part, Stmt)| *part == Part::Head && stmt.copies_ahead();
        let rest = placed.split_off(placed.iter().rposition(is_copy).map_or(0, |last| last + 1));
        let (head, reads): (Vec<_>, Vec<_>) =
            placed.into_iter().partition(|(part, _)| *part == Part::Head);
        let at = head.len();
        stmts.extend(head.into_iter().chain(reads).chain(rest).map(|(_, stmt)| stmt));
        at
    }

    /// The allocation of a window.
    fn root(&self, window: Value) -> Option<Shared> {
        self.values[window].ty.shared().map(|ty| ty.root)
    }

    /// Whether statements may begin with copies, in branches as well.
    fn starts_copies(&self, stmts: &[Stmt]) -> bool {
        for stmt in stmts {
            if stmt.goes_ahead(self.filled) && stmt.copies_ahead() {
                return true;
            }
            if stmt.goes_ahead(self.filled) || stmt.only_reads() || stmt.is_stamp() {
                continue;
            }
            let StmtKind::If { then, otherwise, .. } = &stmt.kind else { return false };
            return self.starts_copies(&then.stmts) || self.starts_copies(&otherwise.stmts);
        }
        false
    }

    /// Whether a statement is a branch that has copies, and something else behind them.
    fn holds_more_than_copies(&self, stmt: &Stmt) -> bool {
        let StmtKind::If { then, otherwise, results, .. } = &stmt.kind else { return false };
        let ends_with_copies = |side: &Region| {
            side.stmts.last().is_none_or(Stmt::copies_ahead)
                && !side.stmts.iter().any(|inner| self.holds_more_than_copies(inner))
        };
        let copies_alone = stmt.goes_ahead(self.filled)
            && results.is_empty()
            && [then, otherwise].into_iter().all(ends_with_copies);
        stmt.copies_ahead() && !copies_alone
    }

    /// A branch as two: its copies, with what they need, and the rest.
    fn divided(&mut self, stmt: Stmt) -> [Stmt; 2] {
        let StmtKind::If { condition, mut then, mut otherwise, results } = stmt.kind else {
            unreachable!("`separate` divides what `starts_copies` has found to be a branch")
        };
        let [first, second] = [&mut then, &mut otherwise].map(|side| {
            let mut head = std::mem::take(&mut side.stmts);
            let at = self.separate(&mut head);
            let rest = head.split_off(at);
            let mut needed: BTreeSet<Value> = side.end.values().iter().copied().collect();
            needed.extend(rest.iter().flat_map(|stmt| stmt.kind.mentioned()));
            // What the copies and the rest both need, each computes.
            side.stmts = slice(&head, &mut needed, Roots::None, &BTreeSet::new());
            side.stmts.extend(rest);
            let copies = slice(&head, &mut BTreeSet::new(), Roots::Effects, &BTreeSet::new());
            let mut copier = Copier::new(self.values, BTreeMap::new());
            let stmts = copies.iter().map(|stmt| copier.stmt(stmt)).collect();
            Region { stmts, end: Terminator::Yield(Vec::new()), ..Region::default() }
        });
        let ahead = StmtKind::If { condition, then: first, otherwise: second, results: Vec::new() };
        let rest = StmtKind::If { condition, then, otherwise, results };
        [ahead, rest].map(|kind| Stmt { kind, loc: stmt.loc })
    }
}

impl Stmt {
    /// The window that it fills, if it is a copy that a loop can start ahead.
    pub fn fills_ahead(&self) -> Option<Value> {
        let StmtKind::Op { op, args, .. } = &self.kind else { return None };
        let ahead = matches!(
            op,
            Op::Copy(CopyOp::Async(..) | CopyOp::Tma(Tma { kind: TmaKind::Staged, .. }))
        );
        args.last().copied().filter(|_| ahead)
    }

    /// Whether it is such a copy, or has some in its branches.
    pub fn copies_ahead(&self) -> bool {
        self.fills_ahead().is_some()
            || self
                .kind
                .regions()
                .into_iter()
                .any(|inner| inner.stmts.iter().any(Stmt::copies_ahead))
    }

    /// Calls `each` with every such copy and the window that it fills, in the order of the text.
    pub fn each_copy_ahead<'s>(&'s self, each: &mut dyn FnMut(&'s Stmt, Value)) {
        if let Some(window) = self.fills_ahead() {
            each(self, window);
        }
        for inner in self.kind.regions() {
            inner.stmts.iter().for_each(|stmt| stmt.each_copy_ahead(each));
        }
    }

    /// Whether it can stand in the head: it computes, loads, asserts or copies, or branches to nothing else. `filled` are the handles on what the
    /// copies fill, which the head cannot load.
    pub fn goes_ahead(&self, filled: &BTreeSet<Value>) -> bool {
        let all = |region: &Region| region.stmts.iter().all(|stmt| stmt.goes_ahead(filled));
        match &self.kind {
            StmtKind::Op { op, args, .. } => {
                op.is_pure()
                    || self.fills_ahead().is_some()
                    || self.loads() && !args.iter().any(|arg| filled.contains(arg))
                    || matches!(op, Op::Assert(_) | Op::Report(ReportOp::Assert(_)))
            }
            StmtKind::Reduce { .. } | StmtKind::Scan { .. } => true,
            StmtKind::If { then, otherwise, .. } => [then, otherwise]
                .into_iter()
                .all(|side| matches!(side.end, Terminator::Yield(_)) && all(side)),
            StmtKind::For { body, .. } => {
                let copies = body.stmts.iter().any(Stmt::copies_ahead);
                matches!(body.end, Terminator::Continue(0, _)) && !copies && all(body)
            }
            StmtKind::Loop { .. } | StmtKind::Ptx { .. } | StmtKind::Specialize { .. } => false,
        }
    }

    /// Whether it computes and loads, also what copies fill, and does nothing else.
    pub fn only_reads(&self) -> bool {
        !self.copies_ahead() && !self.has_effect() && self.goes_ahead(&BTreeSet::new())
    }

    /// Whether it does more than compute and load.
    pub fn has_effect(&self) -> bool {
        let here = match &self.kind {
            StmtKind::Op { op, .. } => !op.is_pure() && !self.loads(),
            StmtKind::Ptx { .. } => true,
            StmtKind::Reduce { .. }
            | StmtKind::Scan { .. }
            | StmtKind::If { .. }
            | StmtKind::For { .. }
            | StmtKind::Loop { .. }
            | StmtKind::Specialize { .. } => false,
        };
        here || self
            .kind
            .regions()
            .into_iter()
            .any(|inner| inner.stmts.iter().any(Stmt::has_effect))
    }

    /// Whether it is a load to registers.
    pub fn loads(&self) -> bool {
        let StmtKind::Op { op: Op::Memory(op), .. } = &self.kind else { return false };
        match op {
            MemoryOp::LoadTensor(..)
            | MemoryOp::LoadPtr { .. }
            | MemoryOp::LoadShared
            | MemoryOp::GatherShared => true,
            MemoryOp::StoreTensor(..)
            | MemoryOp::StorePtr { .. }
            | MemoryOp::Atomic(..)
            | MemoryOp::AtomicTensor { .. }
            | MemoryOp::PrefetchTensor { .. }
            | MemoryOp::StoreShared
            | MemoryOp::ScatterShared
            | MemoryOp::AtomicShared(_) => false,
        }
    }
}

/// What a slice keeps for its own sake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roots {
    /// Nothing.
    None,
    /// Copies and assertions.
    Effects,
}

/// The statements of a head that its copies and assertions, or `needed` values, need; `needed` becomes all the values that these need.
/// What computes one of the values in `given` is left out.
pub fn slice(
    stmts: &[Stmt],
    needed: &mut BTreeSet<Value>,
    roots: Roots,
    given: &BTreeSet<Value>,
) -> Vec<Stmt> {
    let mut kept = Vec::new();
    for stmt in stmts.iter().rev() {
        let wanted = |result: &Value| needed.contains(result) && !given.contains(result);
        let results = stmt.kind.results();
        if let StmtKind::If { condition, then, otherwise, .. } = &stmt.kind {
            let keeps: Vec<bool> = results.iter().map(wanted).collect();
            let sides = [then, otherwise].map(|side| {
                let values = side.end.values().iter().zip(&keeps);
                let ends: Vec<Value> =
                    values.filter(|(_, keeps)| **keeps).map(|(value, _)| *value).collect();
                needed.extend(&ends);
                let stmts = slice(&side.stmts, needed, roots, given);
                Region { args: Vec::new(), stmts, end: Terminator::Yield(ends) }
            });
            if sides.iter().all(|side| side.stmts.is_empty() && side.end.values().is_empty()) {
                continue;
            }
            needed.insert(*condition);
            let results = results.into_iter().zip(keeps);
            let results = results.filter(|(_, keeps)| *keeps).map(|(value, _)| value).collect();
            let [then, otherwise] = sides;
            let kind = StmtKind::If { condition: *condition, then, otherwise, results };
            kept.push(Stmt { kind, loc: stmt.loc });
            continue;
        }
        if results.iter().any(wanted) || roots == Roots::Effects && stmt.has_effect() {
            needed.extend(stmt.kind.mentioned());
            kept.push(stmt.clone());
        }
    }
    kept.reverse();
    kept
}

/// Makes copies of statements, with values of their own.
#[derive(Debug)]
pub struct Copier<'v> {
    values: &'v mut Arena<ValueData>,
    map: BTreeMap<Value, Value>,
}

impl<'v> Copier<'v> {
    /// With what stands in the place of values from outside.
    pub fn new(values: &'v mut Arena<ValueData>, map: BTreeMap<Value, Value>) -> Self {
        Copier { values, map }
    }

    /// The value that stands in the place of one.
    pub fn value(&self, value: Value) -> Value {
        self.map.get(&value).copied().unwrap_or(value)
    }

    /// The copy of a statement; later ones use its results.
    pub fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        let mut copy = stmt.clone();
        self.renew(&mut copy);
        copy
    }

    fn renew(&mut self, stmt: &mut Stmt) {
        for operand in stmt.kind.operands_mut() {
            *operand = self.value(*operand);
        }
        for region in stmt.kind.all_regions_mut() {
            region.args.iter_mut().for_each(|arg| self.define(arg));
            region.stmts.iter_mut().for_each(|stmt| self.renew(stmt));
            for value in region.end.values_mut() {
                *value = self.value(*value);
            }
        }
        stmt.kind.results_mut().into_iter().for_each(|result| self.define(result));
    }

    fn define(&mut self, value: &mut Value) {
        let data = self.values[*value].clone();
        let new = self.values.alloc(data);
        self.map.insert(*value, new);
        *value = new;
    }
}

impl Kernel {
    /// The parameters that addresses come from, where all that they are computed from is of one.
    pub fn origins(&self) -> ArenaMap<Value, u32> {
        let mut origins: ArenaMap<Value, u32> = ArenaMap::default();
        let is_pointer = |value: &Value| matches!(self.ty(*value).elem(), Some(Elem::Ptr(_)));
        self.body.each_op(&mut |op, args, result, _| {
            let Some(result) = result.filter(is_pointer) else { return };
            if let Op::Source(SourceOp::ParamPtr(param) | SourceOp::TensorPtr(param)) = op {
                origins.insert(result, *param);
                return;
            }
            let pointers = args.iter().filter(|arg| is_pointer(arg));
            let mut of = pointers.map(|&arg| origins.get(arg).copied());
            if let Some(Some(first)) = of.next()
                && of.all(|other| other == Some(first))
            {
                origins.insert(result, first);
            }
        });
        origins
    }

    /// Whether a parameter is a tensor that the launch borrows to read it: no other argument that is written overlaps with it.
    pub fn is_only_read(&self, param: u32) -> bool {
        let kind = &self.params[param as usize].kind;
        matches!(kind, ParamKind::Tensor { mutable: false, .. })
    }

    /// What is loaded from tensors that are only read.
    pub fn constant_loads(&self) -> BTreeSet<Value> {
        let origins = self.origins();
        let mut loads = BTreeSet::new();
        self.body.each_op(&mut |op, args, result, _| {
            let param = match op {
                Op::Memory(MemoryOp::LoadTensor(param, _)) => Some(*param),
                Op::Memory(MemoryOp::LoadPtr { .. }) => origins.get(args[0]).copied(),
                Op::Memory(
                    MemoryOp::LoadShared
                    | MemoryOp::GatherShared
                    | MemoryOp::StoreTensor(..)
                    | MemoryOp::StorePtr { .. }
                    | MemoryOp::Atomic(..)
                    | MemoryOp::AtomicTensor { .. }
                    | MemoryOp::PrefetchTensor { .. }
                    | MemoryOp::StoreShared
                    | MemoryOp::ScatterShared
                    | MemoryOp::AtomicShared(_),
                )
                | Op::Source(_)
                | Op::Tile(_)
                | Op::Elementwise(_)
                | Op::Window(_)
                | Op::Copy(_)
                | Op::Sync(_)
                | Op::Product(_)
                | Op::TensorMemory(_)
                | Op::Assert(_)
                | Op::Report(_) => None,
            };
            if param.is_some_and(|param| self.is_only_read(param)) {
                loads.extend(result);
            }
        });
        loads
    }

    /// How many places the allocations have that pipelined loops fill.
    pub fn rings(&self) -> ArenaMap<Shared, u32> {
        let roots = self.body.allocations();
        let mut rings = ArenaMap::default();
        self.body.each_stmt(&mut |stmt| {
            let StmtKind::For { body, .. } = &stmt.kind else { return };
            let Some(found) = body.staged() else { return };
            for stmt in &body.stmts[..found.at] {
                stmt.each_copy_ahead(&mut |_, window| {
                    if let Some(root) = roots.get(window) {
                        rings.insert(*root, found.stages);
                    }
                });
            }
        });
        rings
    }
}
