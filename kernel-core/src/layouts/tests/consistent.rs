//! What holds after inference, checked element by element and without the code that inference uses.

use std::collections::BTreeSet;

use kernel_layout::{Dim, Layout};

use super::super::Inferred;
use crate::ir::{
    Kernel, MemoryOp, Op, ProductOp, Region, StmtKind, Terminator, TileOp, Type, Value,
};

/// Panics where layouts do not fit together.
pub(super) fn check(kernel: &Kernel, inferred: &Inferred) {
    let checker = Checker { kernel, inferred, warps: kernel.warps };
    checker.region(&kernel.body, &mut Vec::new(), &[]);
    for (shared, _) in kernel.shared.iter() {
        let layout = inferred.shared.get(shared).expect("every allocation has a layout");
        assert!(layout.is_bijective(), "{layout}");
        assert_eq!(layout.in_dims().collect::<Vec<_>>(), [Dim::Offset]);
    }
}

struct Checker<'a> {
    kernel: &'a Kernel,
    inferred: &'a Inferred,
    /// The warps that run the statements.
    warps: u32,
}

type Loops<'a> = Vec<(&'a [Value], &'a [Value])>;

impl<'a> Checker<'a> {
    fn is_tile(&self, value: Value) -> bool {
        matches!(self.kernel.ty(value), Type::Tile(..))
    }

    fn layout(&self, value: Value) -> &'a Layout {
        let layout = self.inferred.layouts.get(value).expect("every tile has a layout");
        assert_eq!(layout.shape(), self.kernel.ty(value).shape());
        assert_eq!(layout.in_dims().collect::<Vec<_>>(), [Dim::Register, Dim::Lane, Dim::Warp]);
        assert_eq!(layout.in_size(Dim::Lane), 32);
        assert_eq!(layout.in_size(Dim::Warp), self.warps);
        assert!(layout.is_surjective(), "{layout}");
        layout
    }

    fn same(&self, what: &str, a: Value, b: Value) {
        if self.is_tile(a) && self.is_tile(b) {
            assert_eq!(self.layout(a), self.layout(b), "{what}\n{}", self.kernel);
        }
    }

    fn all_same(&self, what: &str, a: &[Value], b: &[Value]) {
        for (&a, &b) in a.iter().zip(b) {
            self.same(what, a, b);
        }
    }

    fn region(&self, region: &'a Region, loops: &mut Loops<'a>, results: &'a [Value]) {
        for stmt in &region.stmts {
            self.stmt(&stmt.kind, loops);
        }
        let at = |depth: u32| loops[loops.len() - 1 - depth as usize];
        match &region.end {
            Terminator::Return => {}
            Terminator::Yield(values) => self.all_same("yield", values, results),
            Terminator::Continue(depth, values) => self.all_same("continue", values, at(*depth).0),
            Terminator::Break(depth, values) => self.all_same("break", values, at(*depth).1),
        }
    }

    fn stmt(&self, kind: &'a StmtKind, loops: &mut Loops<'a>) {
        match kind {
            StmtKind::Op { op, args, result } => self.op(op, args, *result),
            StmtKind::If { then, otherwise, results, .. } => {
                self.region(then, loops, results);
                self.region(otherwise, loops, results);
            }
            StmtKind::For { inits, body, results, .. } => {
                self.all_same("init", inits, &body.args[1..]);
                self.all_same("result", results, inits);
                loops.push((&body.args[1..], results));
                self.region(body, loops, &[]);
                loops.pop();
            }
            StmtKind::Loop { inits, body, results } => {
                self.all_same("init", inits, &body.args);
                loops.push((&body.args, results));
                self.region(body, loops, &[]);
                loops.pop();
            }
            StmtKind::Specialize { default, partitions, results } => {
                self.region(default, loops, results);
                for one in partitions {
                    Checker { warps: one.warps, ..*self }.region(&one.body, loops, &[]);
                }
            }
            StmtKind::Ptx { args, results, .. } => {
                let all = args.iter().chain(results).copied();
                let tiles: Vec<Value> = all.filter(|&value| self.is_tile(value)).collect();
                self.all_same("ptx", &tiles, &vec![tiles[0]; tiles.len()]);
            }
            StmtKind::Scan { args, results, .. } => {
                self.all_same("scan", args, &vec![results[0]; args.len()]);
                self.all_same("scan", results, &vec![results[0]; results.len()]);
            }
            StmtKind::Reduce { args, axis, results, .. } => {
                self.all_same("reduce", &args[1..], &vec![args[0]; args.len() - 1]);
                for &result in results.iter().filter(|&&result| self.is_tile(result)) {
                    let without = |mut at: Vec<u32>| {
                        at.remove(*axis as usize);
                        at
                    };
                    let (from, to) = (self.layout(args[0]), self.layout(result));
                    for thread in self.threads() {
                        let slice: BTreeSet<Vec<u32>> =
                            held(from, thread).into_iter().map(without).collect();
                        assert_eq!(slice, held(to, thread));
                    }
                }
            }
        }
    }

    fn threads(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let warps = self.warps;
        (0..warps).flat_map(|warp| (0..32).map(move |lane| (lane, warp)))
    }

    fn op(&self, op: &Op, args: &[Value], result: Option<Value>) {
        for &value in args.iter().chain(&result).filter(|&&value| self.is_tile(value)) {
            self.layout(value);
        }
        let Some(result) = result else {
            let tiles: Vec<Value> = args.iter().copied().filter(|&arg| self.is_tile(arg)).collect();
            self.all_same("effect", &tiles, &tiles.iter().skip(1).copied().collect::<Vec<_>>());
            return;
        };
        if !self.is_tile(result) {
            return;
        }
        let elementwise = matches!(
            op,
            Op::Elementwise(_)
                | Op::Tile(TileOp::Flip(_))
                | Op::Memory(
                    MemoryOp::LoadPtr { .. }
                        | MemoryOp::Atomic(..)
                        | MemoryOp::AtomicTensor { .. }
                        | MemoryOp::GatherShared
                        | MemoryOp::AtomicShared(_)
                )
        );
        if elementwise {
            self.all_same("elementwise", args, &vec![result; args.len()]);
        } else if let Op::Tile(TileOp::Gather(_)) = op {
            self.same("indices", args[1], result);
        } else if let Op::Tile(TileOp::Sort(_)) = op {
            if self.kernel.ty(args[0]) == self.kernel.ty(result) {
                self.same("sort", args[0], result);
            }
        } else if let Op::Product(ProductOp::Dot(_)) = op {
            self.same("accumulator", args[2], result);
        } else if let Op::Tile(
            TileOp::Expand(_) | TileOp::Broadcast | TileOp::Reshape | TileOp::Permute(_),
        ) = op
        {
            self.needs(op, args[0], result);
        } else if *op == Op::Tile(TileOp::Join) {
            self.pairs(&[0, 1], args, result);
        } else if let Op::Tile(TileOp::Split(index)) = op {
            self.pairs(&[*index], &[result], args[0]);
        }
    }

    /// What a thread holds of a tile with pairs, at these places of them, it holds in each of the parts.
    fn pairs(&self, places: &[u32], parts: &[Value], whole: Value) {
        for thread in self.threads() {
            let place = |mut at: Vec<u32>| {
                let last = at.pop().expect("pairs have an axis");
                places.contains(&last).then_some(at)
            };
            let within: BTreeSet<Vec<u32>> =
                held(self.layout(whole), thread).into_iter().filter_map(place).collect();
            for &part in parts {
                assert_eq!(within, held(self.layout(part), thread), "{}", self.kernel);
            }
        }
    }

    /// Every element of the result is in the operand of the same thread, and no register of the operand is idle.
    fn needs(&self, op: &Op, arg: Value, result: Value) {
        let (from, to) = (self.layout(arg), self.layout(result));
        let (shape, result_shape) = (self.kernel.ty(arg).shape(), self.kernel.ty(result).shape());
        let source = |at: Vec<u32>| source(op, shape, result_shape, at);
        for thread in self.threads() {
            let needed: BTreeSet<Vec<u32>> = held(to, thread).into_iter().map(source).collect();
            assert_eq!(needed, held(from, thread), "{op:?}\n{}", self.kernel);
        }
    }
}

/// The elements that a thread holds.
fn held(layout: &Layout, (lane, warp): (u32, u32)) -> BTreeSet<Vec<u32>> {
    let element =
        |register| layout.apply(&[(Dim::Register, register), (Dim::Lane, lane), (Dim::Warp, warp)]);
    (0..layout.in_size(Dim::Register)).map(element).collect()
}

/// The element of the operand that an element of the result is.
fn source(op: &Op, shape: &[u32], result_shape: &[u32], mut at: Vec<u32>) -> Vec<u32> {
    if let Op::Tile(TileOp::Expand(axis)) = op {
        at.remove(*axis as usize);
        at
    } else if let Op::Tile(TileOp::Broadcast) = op {
        at.iter().zip(shape).map(|(at, extent)| at % extent).collect()
    } else if let Op::Tile(TileOp::Permute(order)) = op {
        let mut from = vec![0; at.len()];
        for (&axis, at) in order.iter().zip(at) {
            from[axis as usize] = at;
        }
        from
    } else {
        let index = at.iter().zip(result_shape).fold(0, |index, (at, extent)| index * extent + at);
        let digit = |index: &mut u32, extent: &u32| {
            let at = *index % extent;
            *index /= extent;
            Some(at)
        };
        let mut from: Vec<u32> = shape.iter().rev().scan(index, digit).collect();
        from.reverse();
        from
    }
}
