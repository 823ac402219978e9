//! Operations along an axis: reductions, scans, positions of extremes, `join` and `split`.

use crate::{
    diag::Code,
    elaborate::{
        Builder,
        language::value::{Num, Val},
        signatures::Given,
        tuple,
    },
    ir::{
        Binary, Compare, Dtype, Region, SourceOp, Stmt, StmtKind, Terminator, TileOp, Type, Value,
    },
    loc::Loc,
};

/// A function of two values, each of one element of every operand.
pub(crate) type Combine<'a, 'b> = dyn FnMut(&mut Builder<'a>, &[Value], &[Value]) -> Vec<Val> + 'b;

/// What a function of two values is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// One value instead of an axis.
    Reduction,
    /// At each element what a reduction of those up to it gives.
    Scan,
}

impl Purpose {
    const fn name(self) -> &'static str {
        match self {
            Purpose::Reduction => "a reduction",
            Purpose::Scan => "a scan",
        }
    }
}

impl<'a> Builder<'a> {
    /// The region of a function of two values, for elements of these types; none if it has been reported.
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
                    Code::Kind.at(combine_loc,
                        format!("{} combines two scalars by arithmetic only", purpose.name()),
                    )
                    .why("the function combines registers of different threads and cannot have loops or memory accesses; an `if` in it chooses between two values")
                    .help("|a, b| a + b"),
                );
            }
            // What follows from statements that are not allowed is not a second mistake.
            for (&result, &num) in results.iter().zip(nums).filter(|_| simple) {
                let matches = self.is_scalar(result)
                    && !self.is_ptr(result)
                    && self.cells.unify(self.num(result), num).is_ok();
                if !matches {
                    let name = self.cells.name(num);
                    self.report(
                        Code::DtypeMismatch
                            .at(
                                combine_loc,
                                format!("{} returns the type that it takes", purpose.name()),
                            )
                            .compare(
                                "",
                                format!("a scalar ({name})"),
                                self.describe(&Val::Value(result)),
                            ),
                    );
                }
            }
            self.terminate(Terminator::Yield(results.clone()));
        }
        self.terminated = outer;
        let region = self.regions.pop().expect("pushed above");
        results.map(|_| region)
    }

    /// A reduction of an axis, or an inclusive scan along it, with a function of two scalars, which stands at the second place.
    pub(crate) fn along(
        &mut self,
        purpose: Purpose,
        (tile, axis): (Value, u32),
        (loc, combine_loc): (Loc, Loc),
        combine: &mut dyn FnMut(&mut Self, Value, Value) -> Val,
    ) -> Val {
        if self.is_ptr(tile) {
            let what = if purpose == Purpose::Scan { "`scan`" } else { purpose.name() };
            return self.error(Code::Kind, loc, format!("{what} takes a tile of numbers"));
        }
        let num = self.num(tile);
        let region = self.combine(&[num], purpose, loc, combine_loc, &mut |builder, a, b| {
            vec![combine(builder, a[0], b[0])]
        });
        let Some(combine) = region else { return Val::Error };
        let (args, mut shape) = (vec![tile], self.ty(tile).shape().to_vec());
        if purpose == Purpose::Reduction {
            shape.remove(axis as usize);
        }
        let out = self.new_num(Some(shape).filter(|shape| !shape.is_empty()), num, loc);
        let results = vec![out];
        let kind = match purpose {
            Purpose::Reduction => StmtKind::Reduce { args, axis, combine, results },
            Purpose::Scan => StmtKind::Scan { args, axis, combine, results },
        };
        self.push(kind, loc);
        if matches!(self.ty(out), Type::Scalar(_)) {
            self.points.insert(out, ());
        }
        Val::Value(out)
    }

    /// `x.reduce(axis, f)`, `x.scan(axis, f)`
    pub(crate) fn walked_by(&mut self, purpose: Purpose, given: &Given<'_>) -> Val {
        let at = given.at(1);
        self.along_each(purpose, given, at, &mut |builder, a, b| {
            let vals = vec![Val::Value(a), Val::Value(b)];
            let val = builder.call_closure(given.closure(1), vals, at);
            builder.plain(val)
        })
    }

    /// A reduction of one axis after the other, or a scan along the only one.
    fn along_each(
        &mut self,
        purpose: Purpose,
        given: &Given<'_>,
        combine_loc: Loc,
        combine: &mut dyn FnMut(&mut Self, Value, Value) -> Val,
    ) -> Val {
        let axes = match purpose {
            Purpose::Reduction => given.axes(0),
            Purpose::Scan => vec![given.number(0)],
        };
        let mut val = Val::Value(given.receiver());
        for axis in axes {
            let Val::Value(tile) = val else { break };
            val = self.along(purpose, (tile, axis), (given.loc, combine_loc), combine);
        }
        val
    }

    /// `x.sum(axis)`, `x.max(axis)`, `x.min(axis)`, `x.cumsum(axis)`
    pub(crate) fn walked(
        &mut self,
        purpose: Purpose,
        op: Binary,
        given: &Given<'_>,
    ) -> Option<Val> {
        self.of_numbers(given)?;
        let loc = given.loc;
        Some(self.along_each(purpose, given, loc, &mut |builder, a, b| {
            builder.binary(op, &Val::Value(a), &Val::Value(b), loc)
        }))
    }

    /// `x.argmax(axis)` (by `Gt`), `x.argmin(axis)` (by `Lt`)
    ///
    /// Pairs of an element and its index are reduced. The order of pairs is total, so that the order in which they meet does not
    /// matter: a number before a NaN, the better number before the other one, the lower index before the higher.
    pub(crate) fn arg_extreme(&mut self, better: Compare, given: &Given<'_>) -> Option<Val> {
        self.of_numbers(given)?;
        let (tile, axis, loc) = (given.receiver(), given.number(0), given.loc);
        let num = self.num(tile);
        let index = Num::Known(Dtype::I32);
        let shape = self.ty(tile).shape().to_vec();
        let extent = shape[axis as usize];
        let mut indices =
            self.emit_num(SourceOp::Arange(0), Vec::new(), Some(vec![extent]), index, loc);
        let mut line = vec![1; shape.len()];
        line[axis as usize] = extent;
        if shape.len() > 1 {
            indices = self.emit_num(TileOp::Reshape, vec![indices], Some(line), index, loc);
        }
        let indices = self.broadcast_to(indices, &shape, loc);
        let whole = self.cells.known(num).is_some_and(Dtype::is_int);
        let region =
            self.combine(&[num, index], Purpose::Reduction, loc, loc, &mut |builder, a, b| {
                let [value, at, other, other_at] = [a[0], a[1], b[0], b[1]].map(Val::Value);
                let mut compare =
                    |op, a: &Val, b: &Val| builder.compare(op, a, b, loc).unwrap_or(Val::Error);
                let wins = compare(better, &other, &value);
                let ties = compare(Compare::Eq, &other, &value);
                let earlier = compare(Compare::Lt, &other_at, &at);
                let (is_nan, is_number) = if whole {
                    (None, None)
                } else {
                    let nan = compare(Compare::Ne, &value, &value);
                    (Some(nan), Some(compare(Compare::Eq, &other, &other)))
                };
                let ties = builder.binary(Binary::And, &ties, &earlier, loc);
                let mut takes = builder.binary(Binary::Or, &wins, &ties, loc);
                if let (Some(nan), Some(number)) = (is_nan, is_number) {
                    let over_nan = builder.binary(Binary::Or, &number, &earlier, loc);
                    let over_nan = builder.binary(Binary::And, &nan, &over_nan, loc);
                    takes = builder.binary(Binary::Or, &takes, &over_nan, loc);
                }
                vec![
                    builder.select(&takes, [&other, &value], loc).unwrap_or(Val::Error),
                    builder.select(&takes, [&other_at, &at], loc).unwrap_or(Val::Error),
                ]
            });
        let combine = region?;
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
        Some(Val::Value(at))
    }

    /// `x.permute(order)`
    pub(crate) fn permute(&mut self, given: &Given<'_>) -> Option<Val> {
        let (tile, (order, at)) = (given.receiver(), given.arg(0));
        let shape = self.ty(tile).shape().to_vec();
        let Val::Array(parts) = self.plain(order.clone()) else {
            return self.refuse(
                Code::Kind
                    .at(at, "`permute` takes an order of the axes")
                    .compare("", "an array, one entry for each axis", self.describe(order))
                    .help(format!("{:?}", (0..shape.len()).rev().collect::<Vec<_>>())),
            );
        };
        let mut axes = Vec::new();
        for part in parts.iter() {
            axes.push(self.axis_from_either_end(part, shape.len(), "the tile", at)?);
        }
        let mut sorted = axes.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().map(|axis| axis as usize).eq(0..shape.len()) {
            return self.refuse(
                Code::Axis.at(at, "`permute` names every axis of the tile once")
                    .compare(
                        "axes",
                        format!("{:?} in some order", (0..shape.len()).collect::<Vec<_>>()),
                        format!("{axes:?}"),
                    )
                    .why("axis `i` of the result is axis `order[i]` of the tile; a reduction removes an axis, and `expand` adds one"),
            );
        }
        let shape = axes.iter().map(|&axis| shape[axis as usize]).collect();
        Some(self.reshaped(TileOp::Permute(axes), tile, shape, given.loc))
    }

    /// `join(a, b)`
    pub(crate) fn join_pairs(&mut self, given: &Given<'_>) -> Option<Val> {
        let loc = given.loc;
        let (a, b) = (self.value(given.val(0), loc), self.value(given.val(1), loc));
        let (mut a, mut b) = self.same_shape(a?, b?, "`join`", loc)?;
        if self.is_ptr(a) || self.is_ptr(b) {
            return self.refuse(Code::Kind.at(loc, "`join` takes tiles of numbers"));
        }
        let num = self.unify(self.num(a), self.num(b), "`join`", loc)?;
        let mut shape = self.ty(a).shape().to_vec();
        let scalars = shape.is_empty();
        if scalars {
            // What a reduction of the only axis leaves is a tile of rank 0 in Rust's types.
            (a, b) = (self.splat(a, &[1], loc), self.splat(b, &[1], loc));
            shape = vec![1];
        }
        if shape.len() == 5 {
            return self.refuse(
                Code::Axis
                    .at(loc, "a tile has at most 5 axes")
                    .compare("rank of the operands", "at most 4", "5")
                    .why("`join` adds a last axis of extent 2"),
            );
        }
        shape.push(2);
        self.check_budget(&shape, num, loc)?;
        let pairs = self.emit_num(TileOp::Join, vec![a, b], Some(shape), num, loc);
        if scalars {
            return Some(self.reshaped(TileOp::Reshape, pairs, vec![2], loc));
        }
        Some(Val::Value(pairs))
    }

    /// `x.split()`
    pub(crate) fn split_pairs(&mut self, given: &Given<'_>) -> Option<Val> {
        let (tile, loc) = (given.receiver(), given.loc);
        let mut shape = self.ty(tile).shape().to_vec();
        if shape.last() != Some(&2) {
            let last = shape.last().copied().unwrap_or(1);
            let diagnostic = Code::ShapeMismatch
                .at(loc, "`split` needs a last axis of extent 2")
                .compare("last extent", "2", last)
                .why("each of the two results has one element of every pair along the last axis");
            shape.pop();
            shape.extend([last / 2, 2]);
            let fits = last > 1 && shape.len() <= 5;
            let pairs = fits.then(|| self.applied(tile, &format!(".reshape({shape:?}).split()")));
            return self.refuse(diagnostic.help_if(pairs));
        }
        shape.pop();
        if shape.is_empty() {
            let one = |builder: &mut Self, second: bool| {
                builder.along(Purpose::Reduction, (tile, 0), (loc, loc), &mut |_, a, b| {
                    Val::Value(if second { b } else { a })
                })
            };
            return Some(tuple(vec![one(self, false), one(self, true)]));
        }
        let parts =
            [0, 1].map(|index| self.reshaped(TileOp::Split(index), tile, shape.clone(), loc));
        Some(tuple(parts.to_vec()))
    }
}
