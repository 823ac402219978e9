//! What walks an axis or makes one: functions of two values along it, scans, positions of extremes, pairs.

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{
        Builder,
        language::value::{Num, Val},
        tuple,
    },
    ir::{Binary, Compare, Dtype, Op, Region, Stmt, StmtKind, Terminator, Type, Value},
    loc::Loc,
};

/// A function of two values, each of one element of every operand.
pub(crate) type Combine<'a, 'b> = dyn FnMut(&mut Builder<'a>, &[Value], &[Value]) -> Vec<Val> + 'b;

/// What a function of two values is for.
#[derive(Clone, Copy)]
pub(crate) struct Purpose {
    /// In messages.
    pub(crate) name: &'static str,
    /// A function for it, as a user would write it.
    pub(crate) example: &'static str,
}

pub(crate) const REDUCTION: Purpose = Purpose { name: "a reduction", example: "|a, b| a + b" };

const SCAN: Purpose = Purpose { name: "a scan", example: "|a, b| a + b" };

impl<'a> Builder<'a> {
    /// The region of a function of two values, for elements of these types; none where it has been reported.
    pub(crate) fn combine(
        &mut self,
        nums: &[Num],
        purpose: Purpose,
        loc: Loc,
        combine_loc: Loc,
        combine: &mut Combine<'a, '_>,
    ) -> Option<Region> {
        let args: Vec<Value> =
            nums.iter().chain(nums).map(|&num| self.new_num(None, num, loc)).collect();
        let (before, next) = args.split_at(nums.len());
        let (before, next) = (before.to_vec(), next.to_vec());
        let outer = std::mem::replace(&mut self.terminated, false);
        self.regions.push(Region { args, ..Region::default() });
        self.conditional += 1;
        let vals = combine(self, &before, &next);
        self.conditional -= 1;
        let results: Option<Vec<Value>> = vals.iter().map(|val| self.value(val, loc)).collect();
        if let Some(results) = &results {
            let region = self.regions.last_mut().expect("pushed above");
            let stmts =
                crate::elaborate::language::closures::straight(std::mem::take(&mut region.stmts));
            let written_out = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Ptx { .. });
            let stmts = stmts.filter(|stmts| !stmts.iter().any(written_out));
            let simple = stmts.is_some();
            region.stmts = stmts.unwrap_or_default();
            if !simple {
                self.report(
                    Diagnostic::new(
                        Code::Kind,
                        combine_loc,
                        format!("{} joins two scalars by arithmetic alone", purpose.name),
                    )
                    .why("the function runs between registers of different threads, without loops and memory; an `if` in it chooses between two values")
                    .help(purpose.example),
                );
            }
            // What follows from statements that are not allowed is no second mistake.
            for (&result, &num) in results.iter().zip(nums).filter(|_| simple) {
                let matches = self.is_scalar(result)
                    && !self.is_ptr(result)
                    && self.cells.unify(self.num(result), num).is_ok();
                if !matches {
                    let actual = self.describe(&Val::Value(result));
                    let name = self.cells.name(num);
                    self.report(
                        Diagnostic::new(
                            Code::DtypeMismatch,
                            combine_loc,
                            format!("{} gives what it takes", purpose.name),
                        )
                        .compare("", format!("a scalar ({name})"), actual),
                    );
                }
            }
            self.terminate(Terminator::Yield(results.clone()));
        }
        self.terminated = outer;
        let region = self.regions.pop().expect("pushed above");
        results.map(|_| region)
    }

    /// An inclusive scan along an axis with a function of two scalars.
    pub(crate) fn scan(
        &mut self,
        tile: Value,
        axis: u32,
        loc: Loc,
        combine_loc: Loc,
        combine: &mut dyn FnMut(&mut Self, Value, Value) -> Val,
    ) -> Val {
        if self.is_ptr(tile) {
            return self.error(Code::Kind, loc, "`scan` takes a tile of numbers");
        }
        let num = self.num(tile);
        let region = self.combine(&[num], SCAN, loc, combine_loc, &mut |builder, a, b| {
            vec![combine(builder, a[0], b[0])]
        });
        let Some(combine) = region else { return Val::Error };
        let shape = self.ty(tile).shape().to_vec();
        let out = self.new_num(Some(shape), num, loc);
        self.push(StmtKind::Scan { args: vec![tile], axis, combine, results: vec![out] }, loc);
        Val::Value(out)
    }

    /// `x.cumsum(axis)`
    pub(crate) fn cumsum(&mut self, tile: Value, axis: u32, loc: Loc) -> Val {
        self.scan(tile, axis, loc, loc, &mut |builder, a, b| {
            builder.binary(Binary::Add, Val::Value(a), Val::Value(b), loc)
        })
    }

    /// `x.argmax(axis)` (by `Gt`), `x.argmin(axis)` (by `Lt`)
    ///
    /// Pairs of an element and its index are reduced. The order of pairs is total, so that the order in which they meet does not
    /// matter: a number before a NaN, the better number before the other one, the lower index before the higher.
    pub(crate) fn arg_extreme(&mut self, better: Compare, tile: Value, axis: u32, loc: Loc) -> Val {
        let num = self.num(tile);
        let index = Num::Known(Dtype::I32);
        let shape = self.ty(tile).shape().to_vec();
        let extent = shape[axis as usize];
        let mut indices = self.emit_num(Op::Arange(0), Vec::new(), Some(vec![extent]), index, loc);
        let mut line = vec![1; shape.len()];
        line[axis as usize] = extent;
        if shape.len() > 1 {
            indices = self.emit_num(Op::Reshape, vec![indices], Some(line), index, loc);
        }
        let indices = self.broadcast_to(indices, &shape, loc);
        let whole = self.cells.known(num).is_some_and(Dtype::is_int);
        let region = self.combine(&[num, index], REDUCTION, loc, loc, &mut |builder, a, b| {
            let [value, at, other, other_at] = [a[0], a[1], b[0], b[1]].map(Val::Value);
            let mut compare = |op, a: &Val, b: &Val| builder.compare(op, a.clone(), b.clone(), loc);
            let wins = compare(better, &other, &value);
            let ties = compare(Compare::Eq, &other, &value);
            let earlier = compare(Compare::Lt, &other_at, &at);
            let (is_nan, is_number) = if whole {
                (None, None)
            } else {
                let nan = compare(Compare::Ne, &value, &value);
                (Some(nan), Some(compare(Compare::Eq, &other, &other)))
            };
            let ties = builder.binary(Binary::And, ties, earlier.clone(), loc);
            let mut takes = builder.binary(Binary::Or, wins, ties, loc);
            if let (Some(nan), Some(number)) = (is_nan, is_number) {
                let over_nan = builder.binary(Binary::Or, number, earlier, loc);
                let over_nan = builder.binary(Binary::And, nan, over_nan, loc);
                takes = builder.binary(Binary::Or, takes, over_nan, loc);
            }
            vec![
                builder.select(takes.clone(), other, value, loc),
                builder.select(takes, other_at, at, loc),
            ]
        });
        let Some(combine) = region else { return Val::Error };
        let mut left = shape;
        left.remove(axis as usize);
        let left = if left.is_empty() { None } else { Some(left) };
        let best = self.new_num(left.clone(), num, loc);
        let at = self.new_num(left, index, loc);
        let (args, results) = (vec![tile, indices], vec![best, at]);
        self.push(StmtKind::Reduce { args, axis, combine, results }, loc);
        if matches!(self.ty(at), Type::Scalar(_)) {
            self.points.insert(at, ());
        }
        Val::Value(at)
    }

    /// `x.permute(order)`
    pub(crate) fn permute(&mut self, tile: Value, order: &Val, at: Loc, loc: Loc) -> Val {
        let shape = self.ty(tile).shape().to_vec();
        let Val::Array(parts) = self.plain(order.clone()) else {
            let actual = self.describe(order);
            return self.report(
                Diagnostic::new(Code::Kind, at, "`permute` takes the order of the axes")
                    .compare("", "an array, one entry an axis", actual)
                    .help(format!("{:?}", (0..shape.len()).rev().collect::<Vec<_>>())),
            );
        };
        let mut axes = Vec::new();
        for part in parts.iter() {
            let Some(axis) = self.axis(part, shape.len(), "the tile", at) else {
                return Val::Error;
            };
            axes.push(axis);
        }
        let mut sorted = axes.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().map(|axis| axis as usize).eq(0..shape.len()) {
            return self.report(
                Diagnostic::new(Code::Axis, at, "`permute` names every axis of the tile once")
                    .compare(
                        "axes",
                        format!("{:?} in some order", (0..shape.len()).collect::<Vec<_>>()),
                        format!("{axes:?}"),
                    )
                    .why("axis `i` of the result is axis `order[i]` of the tile; an axis goes by a reduction, and a new one comes by `expand`"),
            );
        }
        let shape = axes.iter().map(|&axis| shape[axis as usize]).collect();
        self.reshaped(Op::Permute(axes), tile, shape, loc)
    }

    /// `join(a, b)`
    pub(crate) fn join_pairs(&mut self, a: &Val, b: &Val, loc: Loc) -> Val {
        let (Some(a), Some(b)) = (self.value(a, loc), self.value(b, loc)) else {
            return Val::Error;
        };
        let Some((mut a, mut b)) = self.same_shape(a, b, "`join`", loc) else { return Val::Error };
        if self.is_ptr(a) || self.is_ptr(b) {
            return self.error(Code::Kind, loc, "`join` takes tiles of numbers");
        }
        let Some(num) = self.unify(self.num(a), self.num(b), "`join`", loc) else {
            return Val::Error;
        };
        let mut shape = self.ty(a).shape().to_vec();
        let scalars = shape.is_empty();
        if scalars {
            // What a reduction of the only axis leaves is a tile of rank 0 in Rust's types.
            (a, b) = (self.splat(a, &[1], loc), self.splat(b, &[1], loc));
            shape = vec![1];
        }
        if shape.len() == 5 {
            return self.report(
                Diagnostic::new(Code::Axis, loc, "a tile has at most 5 axes")
                    .compare("rank of the operands", "at most 4", "5")
                    .why("`join` adds a last axis of extent 2"),
            );
        }
        shape.push(2);
        if self.check_budget(&shape, num, loc).is_none() {
            return Val::Error;
        }
        let pairs = self.emit_num(Op::Join, vec![a, b], Some(shape), num, loc);
        if scalars {
            return self.reshaped(Op::Reshape, pairs, vec![2], loc);
        }
        Val::Value(pairs)
    }

    /// `x.split()`
    pub(crate) fn split_pairs(&mut self, tile: Value, loc: Loc) -> Val {
        let mut shape = self.ty(tile).shape().to_vec();
        if shape.last() != Some(&2) {
            let last = shape.last().copied().unwrap_or(1);
            let diagnostic =
                Diagnostic::new(Code::ShapeMismatch, loc, "`split` takes pairs apart")
                    .compare("last extent", "2", last.to_string())
                    .why(format!("the tile has extents {shape:?}; each of the two results has one element of each pair along the last axis"));
            shape.pop();
            shape.extend([last / 2, 2]);
            let fits = last > 1 && shape.len() <= 5;
            return self.report(if fits {
                diagnostic.help(self.applied(tile, &format!(".reshape({shape:?}).split()")))
            } else {
                diagnostic
            });
        }
        shape.pop();
        if shape.is_empty() {
            let one = |builder: &mut Self, second: bool| {
                builder.reduce(tile, 0, loc, loc, &mut |_, a, b| {
                    Val::Value(if second { b } else { a })
                })
            };
            let parts = vec![one(self, false), one(self, true)];
            return tuple(parts);
        }
        let parts = [0, 1].map(|index| self.reshaped(Op::Split(index), tile, shape.clone(), loc));
        tuple(parts.to_vec())
    }
}
