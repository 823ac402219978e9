//! Indices of memory that no launch bounds: of rings in shared and tensor memory and of barriers, and ranks and masks of a cluster's blocks.
//!
//! Where the text does not prove that an index is in range, an assertion stands before: one comparison, and a trap. So no index reaches
//! memory that is not its block's, or its cluster's.

use crate::{
    ir::{
        BarrierOp, Compare, Const, CopyOp, Dtype, ElementwiseOp, Fork, Kernel, Op, ProductOp,
        Range, Ranges, Region, Stmt, StmtKind, SyncOp, TensorMemoryOp, Type, Value, ValueData,
        WindowOp,
        flow::{Insertions, Number},
    },
    loc::Loc,
};

use super::op;

/// An index, and what it is less than.
type Bound = (Value, u32);

/// Puts assertions before indices that may be out of range.
pub fn bounds(kernel: &mut Kernel) {
    let mut extents = Vec::new();
    kernel.body.each_op(&mut |op, args, _, _| {
        extents.extend(bounds_of(kernel, op, args).map(|(_, extent)| extent));
    });
    if extents.is_empty() {
        return;
    }
    let ranges = Ranges::of(kernel, &extents);
    let mut unproven =
        Unproven { kernel, ranges, next: 0, asserted: Vec::new(), found: Vec::new() };
    unproven.region(&kernel.body, &mut Vec::new());
    let found = unproven.found;
    let mut out = Insertions::default();
    for (number, bound, loc) in found {
        let asserted = assertion(kernel, bound, loc);
        out.before.entry(number).or_default().extend(asserted);
    }
    out.insert(&mut kernel.body);
}

/// The indices that an operation takes.
fn bounds_of(kernel: &Kernel, op: &Op, args: &[Value]) -> impl Iterator<Item = Bound> {
    let mut all: Vec<Bound> = bound(kernel, op, args).into_iter().collect();
    if let Op::Window(WindowOp::Part) = op {
        all.extend(args[1..].iter().copied().zip(kernel.ty(args[0]).shape().iter().copied()));
    }
    all.into_iter()
}

/// The one index that an operation takes.
fn bound(kernel: &Kernel, op: &Op, args: &[Value]) -> Option<Bound> {
    let blocks = || kernel.cluster.iter().product::<u32>();
    let ring = |window: Value| match kernel.ty(window) {
        Type::Shared(ty) => ty.shape.first().copied(),
        Type::TensorMemory(ty) => ty.shape.first().copied(),
        Type::Barrier(ty) => kernel.barriers[ty.root].ring,
        Type::Scalar(_) | Type::Tile(..) | Type::Error => None,
    };
    // A bit for each block.
    let mask = |mask: Option<Value>| Some((mask?, 1 << blocks()));
    match op {
        Op::Window(WindowOp::Index)
        | Op::Sync(SyncOp::Barrier(BarrierOp::Index))
        | Op::TensorMemory(TensorMemoryOp::Index) => Some((args[1], ring(args[0])?)),
        Op::Window(WindowOp::Remote) | Op::Sync(SyncOp::Barrier(BarrierOp::Remote)) => {
            Some((args[1], blocks()))
        }
        Op::Copy(CopyOp::Tma(tma)) => {
            let rank = kernel.params[tma.param as usize].kind.rank();
            let coordinates = if tma.kind.by_rows() { 2 } else { rank as usize };
            mask(tma.operands(coordinates, args).mask)
        }
        Op::Copy(CopyOp::Bulk(bulk)) => mask(bulk.operands(args).mask),
        Op::Product(ProductOp::Tcgen05(product)) => mask(product.mask(args)),
        Op::Source(_)
        | Op::Tile(_)
        | Op::Elementwise(_)
        | Op::Memory(_)
        | Op::Window(_)
        | Op::Copy(_)
        | Op::Sync(_)
        | Op::Product(_)
        | Op::TensorMemory(_)
        | Op::Assert(_)
        | Op::Report(_) => None,
    }
}

struct Unproven<'k> {
    kernel: &'k Kernel,
    ranges: Ranges<'k>,
    next: Number,
    /// What holds at a place because assertions before it, in its region and in those around it, let nothing else pass.
    asserted: Vec<Bound>,
    found: Vec<(Number, Bound, Loc)>,
}

impl Unproven<'_> {
    fn region(&mut self, region: &Region, forks: &mut Vec<Fork>) {
        let before = self.asserted.len();
        for stmt in &region.stmts {
            let number = self.next;
            self.next += 1;
            if let StmtKind::Op { op, args, .. } = &stmt.kind {
                for bound in bounds_of(self.kernel, op, args) {
                    if !self.proves(bound, forks) {
                        self.asserted.push(bound);
                        self.found.push((number, bound, stmt.loc));
                    }
                }
            } else if let StmtKind::If { condition, then, otherwise, .. } = &stmt.kind {
                for (side, holds) in [(then, true), (otherwise, false)] {
                    forks.push((*condition, holds));
                    self.region(side, forks);
                    forks.pop();
                }
            } else {
                stmt.kind.regions().into_iter().for_each(|inner| self.region(inner, forks));
            }
        }
        self.asserted.truncate(before);
    }

    fn proves(&self, (index, extent): Bound, forks: &[Fork]) -> bool {
        if self.asserted.iter().any(|asserted| asserted.0 == index && asserted.1 <= extent) {
            return true;
        }
        let inside = Range { least: 0, most: i128::from(extent) - 1 };
        self.ranges.at(self.kernel, index, forks).is_some_and(|range| inside.holds(range))
    }
}

/// The kernel stops if an index is negative, which counts as huge, or too large.
fn assertion(kernel: &mut Kernel, (index, extent): Bound, loc: Loc) -> Vec<Stmt> {
    let mut value = |dtype| kernel.values.alloc(ValueData { ty: Type::scalar(dtype), loc });
    let [natural, limit] = [value(Dtype::U32), value(Dtype::U32)];
    let inside = value(Dtype::Bool);
    let most = Const::Int(i128::from(extent));
    vec![
        op(ElementwiseOp::Cast, vec![index], Some(natural), loc),
        op(most, Vec::new(), Some(limit), loc),
        op(Compare::Lt, vec![natural, limit], Some(inside), loc),
        op(Op::Assert(format!("an index is less than {extent}")), vec![inside], None, loc),
    ]
}
