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
        Binary, Compare, Const, Direction, Dtype, Region, Stmt, StmtKind, Terminator, TileOp, Type,
        Value,
    },
    loc::Loc,
};

/// A function of two values, each of one element of every operand.
type Combine<'a, 'b> = dyn FnMut(&mut Builder<'a>, &[Value], &[Value]) -> Vec<Val> + 'b;

/// What a function of two values is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// One value instead of an axis.
    Reduction,
    /// At each element what a reduction of those up to it gives.
    Scan(Direction),
}

/// A scan from the first element on.
pub(crate) const FORWARD: Purpose = Purpose::Scan(Direction::Forward);
/// A scan from the last element back.
pub(crate) const BACKWARD: Purpose = Purpose::Scan(Direction::Backward);

impl Purpose {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Purpose::Reduction => "a reduction",
            Purpose::Scan(_) => "a scan",
        }
    }
}

/// Where a mistake in a function of two values is reported.
pub(super) struct Places<'a> {
    /// The call.
    pub(super) call: Loc,
    /// The function.
    pub(super) function: Loc,
    /// What it gives for each operand, if that is written out.
    pub(super) parts: &'a [Loc],
    /// A function that could stand in its place, as it is written.
    pub(super) example: Option<String>,
}

impl Places<'_> {
    /// Of a function that the language gives, or the user writes for one operand.
    pub(super) const fn of(call: Loc, function: Loc) -> Self {
        Places { call, function, parts: &[], example: None }
    }

    fn part(&self, index: usize) -> Loc {
        self.parts.get(index).copied().unwrap_or(self.function)
    }
}

impl<'a> Builder<'a> {
    /// The region of a function of two values, for elements of these types; none if it has been reported.
    pub(super) fn combine(
        &mut self,
        nums: &[Num],
        purpose: Purpose,
        places: &Places<'_>,
        combine: &mut Combine<'a, '_>,
    ) -> Option<Region> {
        let loc = places.call;
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
            let written_out = |stmt: &&Stmt| matches!(stmt.kind, StmtKind::Ptx { .. });
            let stmts = stmts.and_then(|stmts| match stmts.iter().find(written_out) {
                Some(stmt) => Err(stmt.loc),
                None => Ok(stmts),
            });
            let other = stmts.as_ref().err().copied();
            region.stmts = stmts.unwrap_or_default();
            if let Some(other) = other {
                let scalars = if nums.len() == 1 { "scalars" } else { "tuples of scalars" };
                let diagnostic = Code::Kind
                    .at(other, format!("{} combines two {scalars} by arithmetic only", purpose.name()))
                    .why("the function combines registers of different threads and cannot have loops or memory accesses; an `if` in it chooses between two values");
                self.report(match &places.example {
                    Some(example) => diagnostic.help(example.clone()).exemplified(),
                    None => diagnostic,
                });
            }
            // What follows from statements that are not allowed is not a second mistake.
            for (index, (&result, &num)) in
                results.iter().zip(nums).enumerate().filter(|_| other.is_none())
            {
                let matches = self.is_scalar(result)
                    && !self.is_ptr(result)
                    && self.cells.unify(self.num(result), num).is_ok();
                if !matches {
                    let name = self.cells.name(num);
                    self.report(
                        Code::DtypeMismatch
                            .at(
                                places.part(index),
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
        let example = self.sums_of_each(&Val::Value(tile));
        let places = Places { example, ..Places::of(loc, combine_loc) };
        self.along_from(purpose, (tile, axis), None, &places, combine).unwrap_or(Val::Error)
    }

    /// The same; a scan is exclusive if it has an initial value.
    fn along_from(
        &mut self,
        purpose: Purpose,
        (tile, axis): (Value, u32),
        initial: Option<Value>,
        places: &Places<'_>,
        combine: &mut dyn FnMut(&mut Self, Value, Value) -> Val,
    ) -> Option<Val> {
        if self.is_ptr(tile) {
            let what = match purpose {
                Purpose::Reduction => purpose.name(),
                Purpose::Scan(_) => "`scan`",
            };
            return self
                .refuse(Code::Kind.at(places.call, format!("{what} takes a tile of numbers")));
        }
        let num = self.num(tile);
        let combine = self.combine(&[num], purpose, places, &mut |builder, a, b| {
            vec![combine(builder, a[0], b[0])]
        })?;
        let initial = Vec::from_iter(initial);
        let results = self.walk(purpose, (&[tile], axis), initial, combine, places.call);
        Some(Val::Value(results[0]))
    }

    /// The statement that reduces or scans tiles of one shape, and its results.
    pub(super) fn walk(
        &mut self,
        purpose: Purpose,
        (tiles, axis): (&[Value], u32),
        initial: Vec<Value>,
        combine: Region,
        loc: Loc,
    ) -> Vec<Value> {
        let (args, mut shape) = (tiles.to_vec(), self.ty(tiles[0]).shape().to_vec());
        if purpose == Purpose::Reduction {
            shape.remove(axis as usize);
        }
        let shape = Some(shape).filter(|shape| !shape.is_empty());
        let results: Vec<Value> =
            tiles.iter().map(|&tile| self.new_num(shape.clone(), self.num(tile), loc)).collect();
        let made = results.clone();
        let kind = match purpose {
            Purpose::Reduction => StmtKind::Reduce { args, axis, combine, results },
            Purpose::Scan(direction) => {
                StmtKind::Scan { args, axis, direction, initial, combine, results }
            }
        };
        self.push(kind, loc);
        for &result in &made {
            if matches!(self.ty(result), Type::Scalar(_)) {
                self.points.insert(result, ());
            }
        }
        made
    }

    /// `x.reduce(axis, f)`, `x.scan(axis, f)`, `x.scan_reverse(axis, f)`
    pub(crate) fn walked_by(&mut self, purpose: Purpose, given: &Given<'_>) -> Val {
        let (at, method) = (given.at(1), (given.signature.name, 0));
        self.along_each(purpose, given, at, &mut |builder, a, b| {
            let vals = vec![Val::Value(a), Val::Value(b)];
            let val = builder.call_over_elements(method, given.closure(1), vals, at);
            builder.plain(val)
        })
    }

    /// `x.scan_exclusive(axis, initial, f)`, `x.scan_reverse_exclusive(axis, initial, f)`
    pub(crate) fn walked_from(&mut self, direction: Direction, given: &Given<'_>) -> Option<Val> {
        let (tile, at) = (given.receiver(), given.at(2));
        let num = self.num(tile);
        let initial = self.initial(given.val(1), num, given.at(1))?;
        let example = self.sums_of_each(&given.of);
        let places = Places { example, ..Places::of(given.loc, at) };
        let (purpose, axis) = (Purpose::Scan(direction), given.number(0));
        self.along_from(purpose, (tile, axis), Some(initial), &places, &mut |builder, a, b| {
            let vals = vec![Val::Value(a), Val::Value(b)];
            let method = (given.signature.name, 0);
            let val = builder.call_over_elements(method, given.closure(2), vals, at);
            builder.plain(val)
        })
    }

    /// What an exclusive scan has before its first element: a scalar of the tile's type, or a report.
    pub(super) fn initial(&mut self, val: &Val, num: Num, loc: Loc) -> Option<Value> {
        let value = self.value(val, loc)?;
        let headline = "the initial value of a scan is one scalar";
        self.wants_scalar(value, headline, loc)?;
        if !self.is_scalar(value) || self.is_ptr(value) {
            let actual = self.describe(val);
            return self.refuse(
                Code::Kind.at(loc, headline).compare("", "a scalar", actual).why(
                    "every line of the tile begins with the same value; what differs from line to line is combined with the result",
                ),
            );
        }
        let actual = self.num(value);
        if self.cells.unify(actual, num).is_err() {
            let headline = "the initial value of a scan has the element type of its tile";
            let names = [num, actual].map(|num| self.cells.name(num));
            let [required, given] = names;
            let diagnostic = Code::DtypeMismatch.at(loc, headline).compare("", required, given);
            return self.refuse(match (self.cells.known(num), self.cells.known(actual)) {
                (Some(dtype), None) if dtype.is_float() => {
                    self.literal_help(diagnostic, dtype, actual)
                }
                (Some(dtype), Some(_)) => self.cast_help(diagnostic, dtype, actual),
                (Some(_) | None, _) => diagnostic,
            });
        }
        Some(value)
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
            Purpose::Scan(_) => vec![given.number(0)],
        };
        let mut val = Val::Value(given.receiver());
        for axis in axes {
            let Val::Value(tile) = val else { break };
            val = self.along(purpose, (tile, axis), (given.loc, combine_loc), combine);
        }
        val
    }

    /// `x.sum(axis)`, `x.max(axis)`, `x.min(axis)`, `x.cumsum(axis)`, `x.cumprod(axis)`
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

    /// `x.flip(axis)`
    pub(crate) fn flip(&mut self, given: &Given<'_>) -> Val {
        let (tile, axis) = (given.receiver(), given.number(0));
        let shape = self.ty(tile).shape().to_vec();
        self.reshaped(TileOp::Flip(axis), tile, shape, given.loc)
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
        let indices = self.positions(&shape, axis, loc);
        let whole = self.cells.known(num).is_some_and(Dtype::is_int);
        let places = Places::of(loc, loc);
        let region =
            self.combine(&[num, index], Purpose::Reduction, &places, &mut |builder, a, b| {
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
        let tiles = [tile, indices];
        let results = self.walk(Purpose::Reduction, (&tiles, axis), Vec::new(), combine, loc);
        Some(Val::Value(results[1]))
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
        let one_each = parts.len() == shape.len();
        for (index, part) in parts.iter().enumerate().filter(|_| one_each) {
            let at = given.args[0].part(index);
            axes.push(self.axis_from_either_end(part, shape.len(), "the tile", at)?);
        }
        let mut sorted = axes.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().map(|axis| axis as usize).eq(0..shape.len()) {
            // What is given of the axes that there are, and the others behind it.
            let mut order: Vec<usize> = Vec::new();
            let named = parts.iter().filter_map(|part| {
                let Val::Const(Const::Int(axis), _) = part else { return None };
                usize::try_from(*axis).ok()
            });
            for axis in named.chain(0..shape.len()) {
                if axis < shape.len() && !order.contains(&axis) {
                    order.push(axis);
                }
            }
            let order = Some(format!("{order:?}"));
            return self.refuse(
                Code::Axis.at(at, "`permute` names every axis of the tile once")
                    .compare(
                        "axes",
                        format!("{:?} in some order", (0..shape.len()).collect::<Vec<_>>()),
                        if one_each { format!("{axes:?}") } else { format!("{} axes", parts.len()) },
                    )
                    .why("axis `i` of the result is axis `order[i]` of the tile; a reduction removes an axis, and `expand` adds one")
                    .help_if(order.filter(|_| shape.len() > 1)),
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
