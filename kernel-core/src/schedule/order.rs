//! Barriers between accesses of one block to a tensor that depend on each other.
//!
//! A kernel stores a tile and then reads another window of the same tensor; the layouts decide which threads do either. If a thread
//! may access what another one has accessed before, and one of the two writes, a barrier is put between them, which also makes the
//! writes of the block visible. Most kernels need none: they write each window once, or read and write one window in one layout, where
//! every thread accesses only its own elements. No barrier waits for other blocks.
//!
//! Windows are compared by their coordinates, as sums of values with factors. They are assumed not to wrap: a window whose coordinate
//! has wrapped is outside of every tensor.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use kernel_layout::{Dim, Layout};

use super::{key, statement};
use crate::ir::{
    Binary, Const, Copied, CopyOp, Corner, ElementwiseOp, Kernel, Layouts, MemoryOp, Op, ParamKind,
    Region, SourceOp, Stmt, StmtKind, SyncOp, Value,
    flow::{self, Flow, Insertions, Number, Part, Unsettled},
};
use crate::loc::Loc;

#[cfg(test)]
mod tests;

/// Sums are followed this far into their operands; a longer one counts as a value of its own.
const DEEPEST: u32 = 8;
/// At most this many accesses are followed; a barrier ends a longer list, as unrolled loops make.
const MOST_PENDING: usize = 256;

/// Puts the barriers into a kernel whose tiles have layouts.
///
/// # Errors
/// See [`flow::solve`].
pub fn order(kernel: &mut Kernel, layouts: &Layouts) -> Result<(), Unsettled> {
    let mutable =
        |param: &crate::ir::Param| matches!(param.kind, ParamKind::Tensor { mutable: true, .. });
    if !kernel.params.iter().any(mutable) {
        return Ok(());
    }
    let mut sums = Sums::default();
    sums.read(&kernel.body);
    let (warps, inside) = (kernel.warps, BTreeMap::new());
    let mut order =
        Order { kernel, layouts, sums: &sums, warps, inside, out: Insertions::default() };
    flow::solve(&mut order, &kernel.body, &Pending::new())?;
    let Order { out, .. } = order;
    out.insert(&mut kernel.body);
    Ok(())
}

/// A coordinate: a constant and values with factors, by value index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sum {
    constant: i128,
    terms: BTreeMap<u32, i128>,
}

impl Sum {
    /// `self + other · factor`.
    fn plus(mut self, other: &Sum, factor: i128) -> Sum {
        self.constant += other.constant * factor;
        for (&value, &times) in &other.terms {
            let sum = self.terms.entry(value).or_default();
            *sum += times * factor;
            if *sum == 0 {
                self.terms.remove(&value);
            }
        }
        self
    }
}

/// How integer values are computed.
#[derive(Default)]
struct Sums {
    of: BTreeMap<u32, (Sum, u32)>,
}

impl Sums {
    fn read(&mut self, region: &Region) {
        for stmt in &region.stmts {
            if let StmtKind::Op { op, args, result: Some(result) } = &stmt.kind
                && let Some(sum) = self.made(op, args)
            {
                self.of.insert(key(*result), sum);
            }
            for inner in stmt.kind.regions() {
                self.read(inner);
            }
        }
    }

    /// The sum that an operation computes, and its depth.
    fn made(&self, op: &Op, args: &[Value]) -> Option<(Sum, u32)> {
        if let Op::Source(SourceOp::Const(Const::Int(value))) = op {
            return Some((Sum { constant: *value, ..Sum::default() }, 0));
        }
        let Op::Elementwise(ElementwiseOp::Binary(op)) = op else { return None };
        let ((left, first), (right, second)) = (self.get(args[0]), self.get(args[1]));
        let depth = first.max(second) + 1;
        if depth > DEEPEST {
            return None;
        }
        let sum = if *op == Binary::Add {
            left.plus(&right, 1)
        } else if *op == Binary::Sub {
            left.plus(&right, -1)
        } else if *op == Binary::Mul && right.terms.is_empty() {
            Sum::default().plus(&left, right.constant)
        } else if *op == Binary::Mul && left.terms.is_empty() {
            Sum::default().plus(&right, left.constant)
        } else {
            return None;
        };
        // Factors stay far from the limits of i128 through all the levels.
        let small = |number: &i128| number.unsigned_abs() < 1 << 60;
        (small(&sum.constant) && sum.terms.values().all(small)).then_some((sum, depth))
    }

    fn get(&self, value: Value) -> (Sum, u32) {
        self.of
            .get(&key(value))
            .cloned()
            .unwrap_or_else(|| (Sum { constant: 0, terms: BTreeMap::from([(key(value), 1)]) }, 0))
    }
}

/// What has changed since an access in an earlier iteration of a loop.
#[derive(Clone, Debug)]
struct Iteration {
    /// The loop's counter and its step, 0 if that is not known; none once the loop is over.
    counter: Option<(u32, i128)>,
    /// Every value that the body makes.
    inside: Rc<BTreeSet<u32>>,
}

impl PartialEq for Iteration {
    fn eq(&self, other: &Self) -> bool {
        self.counter == other.counter
            && (Rc::ptr_eq(&self.inside, &other.inside) || self.inside == other.inside)
    }
}

/// What an access does to the elements of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Touches {
    Reads,
    Writes,
    /// Each in one step, in no order among themselves.
    Atomically,
}

/// An access to a tensor since the last barrier.
#[derive(Clone, Debug, PartialEq)]
struct Access {
    param: u32,
    /// Where the window begins, on each axis.
    start: Vec<Sum>,
    extents: Vec<u32>,
    /// The tile that is read or written; none for a copy to shared memory.
    tile: Option<Value>,
    does: Touches,
    /// Whether it was in an earlier iteration.
    earlier: Option<Iteration>,
}

/// Accesses that other threads may not have finished.
type Pending = Vec<Rc<Access>>;

/// How far the window of a later access is from that of an earlier one, along one axis.
enum Distance {
    /// Exactly this far.
    Exactly(i128),
    /// At least this far to one side or the other, in every later iteration.
    AtLeast(i128),
    /// It depends on the run.
    Unknown,
}

struct Order<'a> {
    kernel: &'a Kernel,
    layouts: &'a Layouts,
    sums: &'a Sums,
    /// The warps that run the statements.
    warps: u32,
    /// The values that the bodies of loops compute, by the address of each body.
    inside: BTreeMap<usize, Rc<BTreeSet<u32>>>,
    out: Insertions,
}

impl Order<'_> {
    /// The access of a statement, if it is one to a tensor that the kernel writes.
    fn access(&self, kind: &StmtKind) -> Option<Access> {
        let StmtKind::Op { op, args, result } = kind else { return None };
        let mut extents = Vec::new();
        let (param, coordinates, tile, does) = match (op, &args[..], result) {
            (Op::Memory(MemoryOp::LoadTensor(param, _)), coordinates, Some(tile)) => {
                (*param, coordinates, Some(*tile), Touches::Reads)
            }
            (Op::Memory(MemoryOp::StoreTensor(param, _)), [coordinates @ .., tile], _) => {
                (*param, coordinates, Some(*tile), Touches::Writes)
            }
            (Op::Memory(MemoryOp::AtomicTensor { param, op, .. }), args, result) => {
                let (coordinates, tiles) = args.split_at(args.len() - op.values());
                let tile = tiles.first().copied().or(*result);
                (*param, coordinates, tile, Touches::Atomically)
            }
            (
                Op::Copy(CopyOp::Async(Copied::Tile { param, extents: copied }, _)),
                [coordinates @ .., _],
                _,
            ) => {
                extents = copied.shape().to_vec();
                (*param, coordinates, None, Touches::Reads)
            }
            _ => return None,
        };
        let ParamKind::Tensor { mutable: true, .. } = self.kernel.params[param as usize].kind
        else {
            return None;
        };
        if let Some(tile) = tile {
            extents = self.kernel.ty(tile).shape().to_vec();
        }
        // A slice bounds what is accessed and moves nothing.
        let rank = self.kernel.params[param as usize].kind.rank() as usize;
        let corner = Corner::of(coordinates, rank).at;
        let start = corner.iter().map(|&value| self.sums.get(value).0).collect();
        Some(Access { param, start, extents, tile, does, earlier: None })
    }

    /// Whether a barrier comes before a statement; `pending` becomes that after it.
    fn barred(&self, stmt: &Stmt, pending: &mut Pending) -> bool {
        if let StmtKind::Op { op, args, result } = &stmt.kind
            && self.kernel.effects(op, args, *result).meets_crew()
        {
            pending.clear();
        }
        let Some(access) = self.access(&stmt.kind) else { return false };
        let meets = pending.len() >= MOST_PENDING
            || pending.iter().any(|earlier| self.conflict(earlier, &access));
        if meets {
            pending.clear();
        }
        pending.push(Rc::new(access));
        meets
    }

    /// The loop's own accesses after an iteration: those that `before` does not have.
    fn past(
        &mut self,
        looped: &StmtKind,
        counter: Option<(u32, i128)>,
        before: &Pending,
        mut left: Pending,
    ) -> Pending {
        let (StmtKind::For { body, .. } | StmtKind::Loop { body, .. }) = looped else {
            return left;
        };
        if left.is_empty() {
            return left;
        }
        // A body does not move while it is followed, so its address identifies it.
        let at = std::ptr::from_ref(body) as usize;
        let inside = self.inside.entry(at).or_insert_with(|| {
            let mut made = BTreeSet::new();
            values_of(body, &mut made);
            Rc::new(made)
        });
        let inside = Rc::clone(inside);
        for access in &mut left {
            if !before.contains(access) {
                let earlier = Some(Iteration { counter, inside: Rc::clone(&inside) });
                *access = Rc::new(Access { earlier, ..(**access).clone() });
            }
        }
        left
    }

    /// Whether threads other than those of the earlier access may access what it has accessed.
    fn conflict(&self, earlier: &Access, later: &Access) -> bool {
        let apart = matches!(
            (earlier.does, later.does),
            (Touches::Reads, Touches::Reads) | (Touches::Atomically, Touches::Atomically)
        );
        if earlier.param != later.param || apart {
            return false;
        }
        if earlier.start.len() != later.start.len()
            || [earlier, later].iter().any(|access| access.extents.len() != access.start.len())
        {
            return true;
        }
        let mut same = earlier.extents == later.extents;
        for axis in 0..earlier.start.len() {
            let (before, after) =
                (i128::from(earlier.extents[axis]), i128::from(later.extents[axis]));
            match distance(earlier, later, axis) {
                Distance::Exactly(far) if far >= before || -far >= after => return false,
                Distance::AtLeast(far) if far >= before.max(after) => return false,
                Distance::Exactly(0) => {}
                Distance::Exactly(_) | Distance::AtLeast(_) | Distance::Unknown => same = false,
            }
        }
        !(same && self.own(earlier, later))
    }

    /// Whether every thread accesses only its own elements of a window.
    fn own(&self, earlier: &Access, later: &Access) -> bool {
        let of = |access: &Access| access.tile.and_then(|tile| self.layouts.get(tile));
        let (Some(before), Some(after)) = (of(earlier), of(later)) else { return false };
        before == after && single(before, self.warps)
    }
}

/// Whether no two threads hold one element.
fn single(layout: &Layout, warps: u32) -> bool {
    let all = |dim, count: u32| layout.in_size(dim) == count && layout.free_variable_mask(dim) == 0;
    all(Dim::Lane, 32) && all(Dim::Warp, warps)
}

fn distance(earlier: &Access, later: &Access, axis: usize) -> Distance {
    let before = &earlier.start[axis];
    let between = later.start[axis].clone().plus(before, -1);
    if !between.terms.is_empty() {
        return Distance::Unknown;
    }
    let Some(iteration) = &earlier.earlier else { return Distance::Exactly(between.constant) };
    let mut changed = before.terms.iter().filter(|(value, _)| iteration.inside.contains(value));
    match (changed.next(), changed.next(), iteration.counter) {
        (None, ..) => Distance::Exactly(between.constant),
        (Some((value, factor)), None, Some((counter, step))) if *value == counter => {
            if step == 0 {
                // It moves by one at least, to either side.
                let moves = if between.constant == 0 { factor.abs() } else { 0 };
                return Distance::AtLeast(moves);
            }
            // With every iteration it moves further to one side.
            let moves = factor * step;
            let first = between.constant + moves;
            Distance::AtLeast(if moves > 0 { first } else { -first })
        }
        _ => Distance::Unknown,
    }
}

impl Flow for Order<'_> {
    type State = Pending;

    fn cross(&mut self, stmt: &Stmt, pending: &mut Pending) {
        self.barred(stmt, pending);
    }

    fn join(&mut self, into: &mut Pending, other: &Pending) {
        for access in other {
            if !into.contains(access) {
                into.push(Rc::clone(access));
            }
        }
    }

    fn next_iteration(&mut self, looped: &StmtKind, entered: &Pending, left: Pending) -> Pending {
        let counter = if let StmtKind::For { step, body, .. } = looped {
            let step = self.sums.get(*step).0;
            let step = if step.terms.is_empty() { step.constant } else { 0 };
            body.args.first().map(|&counter| (key(counter), step))
        } else {
            None
        };
        self.past(looped, counter, entered, left)
    }

    fn behind_loop(&mut self, looped: &StmtKind, before: &Pending, left: Pending) -> Pending {
        self.past(looped, None, before, left)
    }

    fn enter(&mut self, part: Part<'_>, _: &Pending) -> Pending {
        // All warps meet where it begins and where it ends. In between, partitions have barriers of their own.
        self.warps = part.warps.unwrap_or(self.kernel.warps);
        Pending::new()
    }

    fn behind_parts(&mut self, _: Loc, _: &Pending, _: Vec<Option<Pending>>) -> Option<Pending> {
        self.warps = self.kernel.warps;
        Some(Pending::new())
    }

    fn visit(&mut self, stmt: &Stmt, pending: &Pending, number: Number) {
        if self.barred(stmt, &mut pending.clone()) {
            self.out.before.insert(number, vec![statement(SyncOp::Block, stmt.loc)]);
        }
    }
}

/// Every value that a region computes, including the regions inside.
fn values_of(region: &Region, out: &mut BTreeSet<u32>) {
    out.extend(region.args.iter().map(|&value| key(value)));
    for stmt in &region.stmts {
        out.extend(stmt.kind.results().iter().map(|&value| key(value)));
        for inner in stmt.kind.regions() {
            values_of(inner, out);
        }
    }
}
