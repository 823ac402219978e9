//! Indices of memory that no launch bounds: of rings in shared and tensor memory and of barriers, and ranks and masks of a cluster's blocks.
//!
//! Where the text does not prove that an index is in range, an assertion stands before: one comparison, and a trap. So no index reaches
//! memory that is not its block's, or its cluster's.
//!
//! A TMA copy of a slice begins in it or after it, on the axes that the slice bounds: coordinates bound one end of a tile (`layouts::tma::slice`).
//! This is asserted in the same way.

use crate::{
    ir::{
        BarrierOp, Binary, Compare, Const, CopyOp, Dtype, ElementwiseOp, Fork, Kernel, Op,
        ProductOp, Range, Ranges, Region, Stmt, StmtKind, SyncOp, TensorMemoryOp, Type, Unary,
        Value, ValueData, WindowOp,
        flow::{Insertions, Number},
    },
    loc::Loc,
};

use super::op;

/// What has to hold of the operands of an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// An index is not negative, and less than this.
    Index(Value, u32),
    /// A copy begins at a position that is not before the first one of its slice, if it takes place.
    InSlice { at: Value, first: Value, condition: Option<Value> },
}

/// Puts assertions before indices that may be out of range.
pub fn bounds(kernel: &mut Kernel) {
    let (mut extents, mut any) = (Vec::new(), false);
    kernel.body.each_op(&mut |op, args, _, _| {
        for bound in bounds_of(kernel, op, args) {
            any = true;
            if let Bound::Index(_, extent) = bound {
                extents.push(extent);
            }
        }
    });
    if !any {
        return;
    }
    let ranges = Ranges::of(kernel, &extents);
    let mut unproven =
        Unproven { kernel, ranges, next: 0, asserted: Vec::new(), found: Vec::new() };
    unproven.region(&kernel.body, &mut Vec::new());
    let found = unproven.found;
    let mut out = Insertions::default();
    for (number, (bound, says), loc) in found {
        let asserted = assertion(kernel, (bound, says), loc);
        out.before.entry(number).or_default().extend(asserted);
    }
    out.insert(&mut kernel.body);
}

/// What has to hold of the operands of an operation.
fn bounds_of(kernel: &Kernel, op: &Op, args: &[Value]) -> impl Iterator<Item = Bound> {
    let index = |(index, extent)| Bound::Index(index, extent);
    let mut all: Vec<Bound> = bound(kernel, op, args).map(index).into_iter().collect();
    if let Op::Window(WindowOp::Part) = op {
        let extents = kernel.ty(args[0]).shape();
        all.extend(args[1..].iter().copied().zip(extents.iter().copied()).map(index));
    }
    if let Op::Copy(CopyOp::Tma(tma)) = op
        && !tma.slice.is_empty()
    {
        let rank = kernel.params[tma.param as usize].kind.rank();
        let operands = tma.operands(rank as usize, args);
        let shape = operands.window.map_or(&[][..], |window| kernel.ty(window).shape());
        let block = kernel.tma_block(*tma, shape);
        let several = operands.slice.iter().filter(|(axis, _)| block[*axis] > 1);
        all.extend(several.map(|&(axis, [first, _])| {
            let (at, condition) = (operands.coordinates[axis], operands.condition);
            Bound::InSlice { at, first, condition }
        }));
    }
    all.into_iter()
}

/// What is wrong if a bound of an operation does not hold, for the one who runs the kernel: `{}` stands for the index, or for what was compared.
fn says(kernel: &Kernel, (op, args): (&Op, &[Value]), bound: Bound) -> String {
    let Bound::Index(index, extent) = bound else {
        return "a TMA copy begins at {} on an axis, before its slice, which begins at {}"
            .to_owned();
    };
    let blocks = kernel.cluster.iter().product::<u32>();
    match op {
        Op::Sync(SyncOp::Barrier(BarrierOp::Index)) => {
            let ring = kernel.called(args[0]).unwrap_or_else(|| "the ring".to_owned());
            format!("index {{}} is out of range: {ring} has {extent} barriers")
        }
        Op::Window(WindowOp::Index) | Op::TensorMemory(TensorMemoryOp::Index) => {
            let ring = kernel.called(args[0]).unwrap_or_else(|| "the ring".to_owned());
            if kernel.ty(args[0]).shape().len() > 2 {
                format!("index {{}} is out of range: {ring} has {extent} buffers")
            } else {
                format!("index {{}} is out of range: {ring} has extent {extent} on axis 0")
            }
        }
        Op::Window(WindowOp::Part) => {
            let whole = kernel.called(args[0]).unwrap_or_else(|| "the tile".to_owned());
            let shape = kernel.ty(args[0]).shape();
            let mut axes = args[1..].iter().zip(shape);
            let axis = axes.position(|axis| axis == (&index, &extent)).unwrap_or_default();
            format!("position {{}} is out of range: {whole} has extent {extent} on axis {axis}")
        }
        Op::Window(WindowOp::Remote) | Op::Sync(SyncOp::Barrier(BarrierOp::Remote)) => {
            format!("rank {{}} is out of range: the cluster has {blocks} blocks")
        }
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
        | Op::Report(_) => {
            format!("mask {{}} names blocks that the cluster of {blocks} does not have")
        }
    }
}

/// The one index that an operation takes, and what it is less than.
fn bound(kernel: &Kernel, op: &Op, args: &[Value]) -> Option<(Value, u32)> {
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
    /// What is to be asserted, and what is wrong if it does not hold.
    found: Vec<(Number, (Bound, String), Loc)>,
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
                        let says = says(self.kernel, (op, args), bound);
                        self.found.push((number, (bound, says), stmt.loc));
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

    fn proves(&self, bound: Bound, forks: &[Fork]) -> bool {
        let range = |value| self.ranges.at(self.kernel, value, forks);
        match bound {
            Bound::Index(index, extent) => {
                let implies = |asserted: &Bound| matches!(asserted, Bound::Index(of, less) if *of == index && *less <= extent);
                let inside = Range { least: 0, most: i128::from(extent) - 1 };
                self.asserted.iter().any(implies)
                    || range(index).is_some_and(|range| inside.holds(range))
            }
            Bound::InSlice { at, first, .. } => {
                let always = Bound::InSlice { at, first, condition: None };
                let [Some(least), Some(most)] = [at, first].map(range) else { return false };
                // What is added to the first position is not negative. A sum that wraps around is as a position after the slice.
                let from =
                    |value| value == first || range(value) == Some(most) && most.least == most.most;
                let sum = self.ranges.sum_of(at).is_some_and(|[a, b]| {
                    let natural = |value| range(value).is_some_and(|range| range.least >= 0);
                    from(a) && natural(b) || from(b) && natural(a)
                });
                self.asserted.iter().any(|asserted| [bound, always].contains(asserted))
                    || at == first
                    || least.least >= most.most
                    || sum
            }
        }
    }
}

/// The kernel stops if an index is negative, which counts as huge, or too large, or if a copy begins before its slice.
fn assertion(kernel: &mut Kernel, (bound, says): (Bound, String), loc: Loc) -> Vec<Stmt> {
    let mut value = |dtype| kernel.values.alloc(ValueData { ty: Type::scalar(dtype), loc });
    match bound {
        Bound::Index(index, extent) => {
            let [natural, limit] = [value(Dtype::U32), value(Dtype::U32)];
            let inside = value(Dtype::Bool);
            let most = Const::Int(i128::from(extent));
            vec![
                op(ElementwiseOp::Cast, vec![index], Some(natural), loc),
                op(most, Vec::new(), Some(limit), loc),
                op(Compare::Lt, vec![natural, limit], Some(inside), loc),
                op(Op::Assert(says), vec![inside], None, loc),
            ]
        }
        Bound::InSlice { at, first, condition } => {
            let mut holds = value(Dtype::Bool);
            let mut stmts = vec![op(Compare::Ge, vec![at, first], Some(holds), loc)];
            if let Some(condition) = condition {
                let [not, either] = [value(Dtype::Bool), value(Dtype::Bool)];
                stmts.push(op(Unary::Not, vec![condition], Some(not), loc));
                stmts.push(op(Binary::Or, vec![not, holds], Some(either), loc));
                holds = either;
            }
            stmts.push(op(Op::Assert(says), vec![holds], None, loc));
            stmts
        }
    }
}
