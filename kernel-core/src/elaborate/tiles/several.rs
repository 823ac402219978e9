//! Reductions and scans of several tiles at once: tuples of tiles, and functions of two tuples of scalars.
//!
//! A tuple may have tuples in it. Its tiles, in order, are the operands of one statement.

use super::along::{Places, Purpose};
use crate::{
    diag::{Code, counted},
    elaborate::{
        Builder,
        language::value::{Num, Val},
        signatures::Given,
        tuple,
    },
    ir::{Direction, Dtype, Region, Type, Value},
    loc::Loc,
    syntax::{Expr, ExprKind},
};

/// The most parts of a tuple whose tiles are reduced or scanned together, as the trait `Tiles` has it.
const MOST_TILES: usize = 8;

impl Builder<'_> {
    /// `(x, y).reduce(axis, f)`, `(x, y).scan(axis, f)`, `(x, y).scan_reverse(axis, f)`
    pub(crate) fn several_by(&mut self, purpose: Purpose, given: &Given<'_>) -> Option<Val> {
        let mut tiles = self.several(given)?;
        let axes = match purpose {
            Purpose::Reduction => given.axes(0),
            Purpose::Scan(_) => vec![given.number(0)],
        };
        for axis in axes {
            let combine = self.joining(&tiles, purpose, given, 1)?;
            tiles = self.walk(purpose, (&tiles, axis), Vec::new(), combine, given.loc);
        }
        Some(grouped(&given.of, &tiles))
    }

    /// `(x, y).scan_exclusive(axis, initial, f)`, `(x, y).scan_reverse_exclusive(axis, initial, f)`
    pub(crate) fn several_from(&mut self, direction: Direction, given: &Given<'_>) -> Option<Val> {
        let tiles = self.several(given)?;
        let (val, expr) = (given.val(1), &given.args[1]);
        if !is_like(val, &given.of) {
            let headline = "the initial values of a scan are a tuple like its tiles";
            let (required, actual) = (self.describe_tuple(&given.of), self.describe_tuple(val));
            return self.refuse(
                Code::Kind
                    .at(expr.loc, headline)
                    .compare("", required, actual)
                    .help_if(self.zeros_of_each(&given.of)),
            );
        }
        let places = places(expr, val);
        let mut initial = Vec::new();
        for ((leaf, place), &tile) in each(val).into_iter().zip(places).zip(&tiles) {
            initial.push(self.initial(leaf, self.num(tile), place)?);
        }
        let purpose = Purpose::Scan(direction);
        let combine = self.joining(&tiles, purpose, given, 2)?;
        let results = self.walk(purpose, (&tiles, given.number(0)), initial, combine, given.loc);
        Some(grouped(&given.of, &results))
    }

    /// The tiles of a tuple in one shape, or a report.
    fn several(&mut self, given: &Given<'_>) -> Option<Vec<Value>> {
        let (what, loc) = (format!("`{}` of several tiles", given.path()), given.loc);
        let tiles: Vec<Value> = each(&given.of).into_iter().filter_map(Val::value).collect();
        // The shape that all of them have together comes first, and then each of them is brought to it.
        let mut widest = tiles[0];
        for &tile in &tiles[1..] {
            widest = self.same_shape(widest, tile, &what, loc)?.0;
        }
        let shape = self.ty(widest).shape().to_vec();
        let mut wide = Vec::new();
        for tile in tiles {
            if self.ty(tile).shape() != shape {
                self.check_budget(&shape, self.num(tile), loc)?;
            }
            wide.push(if self.is_point(tile) {
                self.splat(tile, &shape, loc)
            } else {
                self.broadcast_to(tile, &shape, loc)
            });
        }
        Some(wide)
    }

    /// The rank of the tiles of a tuple, or a report of what is not a tile.
    pub(crate) fn rank_of_several(&mut self, given: &Given<'_>) -> Option<usize> {
        if let Val::Tuple(parts) = &given.of
            && !(2..=MOST_TILES).contains(&parts.len())
        {
            let headline = format!("`{}` of several tiles takes a tuple of tiles", given.path());
            let diagnostic = Code::Kind.at(given.loc, headline).compare(
                "tiles",
                format!("2 to {MOST_TILES}"),
                parts.len(),
            );
            return self.refuse(match parts.len() {
                1 => diagnostic
                    .why("one tile needs no tuple: its own methods take a function of two numbers"),
                _ => diagnostic.why("parts of a tuple may be tuples: `((a, b), (c, d))`"),
            });
        }
        for leaf in each(&given.of) {
            if leaf.is_absent() {
                return None;
            }
            let is_tile = leaf.value().is_some_and(|value| {
                let tile = matches!(self.ty(value), Type::Tile(..)) || self.is_point(value);
                tile && !self.is_ptr(value)
            });
            if !is_tile {
                let headline = format!(
                    "`{}` of several tiles takes a tuple of tiles of numbers",
                    given.path()
                );
                return self.refuse_kind(headline, "a tile of numbers", (leaf, given.loc));
            }
        }
        Some(self.rank_of_each(&given.of))
    }

    /// The greatest rank of the tiles of a tuple.
    pub(crate) fn rank_of_each(&self, of: &Val) -> usize {
        let tiles = each(of).into_iter().filter_map(Val::value);
        tiles.map(|tile| self.ty(tile).shape().len()).max().unwrap_or(0)
    }

    /// The region of a closure of two tuples of scalars, which is argument `index`.
    fn joining(
        &mut self,
        tiles: &[Value],
        purpose: Purpose,
        given: &Given<'_>,
        index: usize,
    ) -> Option<Region> {
        let nums: Vec<Num> = tiles.iter().map(|&tile| self.num(tile)).collect();
        let (closure, at) = (given.closure(index), given.at(index));
        let gives = last(&closure.body);
        let parts = places(gives, &given.of);
        let example = self.sums_of_each(&given.of);
        let places = Places { call: given.loc, function: at, parts: &parts, example };
        self.combine(&nums, purpose, &places, &mut |builder, a, b| {
            let tuples = [a, b].map(|values| grouped(&given.of, values));
            let method = (given.signature.name, 0);
            let val = builder.call_over_elements(method, closure, tuples.to_vec(), at);
            let val = builder.with_plain_leaves(val);
            if is_like(&val, &given.of) {
                return each(&val).into_iter().cloned().collect();
            }
            // What follows from what was reported is not a second mistake.
            if !each(&val).into_iter().any(Val::is_absent) {
                let headline = format!("{} returns the tuple that it takes", purpose.name());
                let required = builder.describe_tuple(&given.of);
                let actual = builder.describe_tuple(&val);
                builder.report(
                    Code::Kind.at(gives.loc, headline).compare("", required, actual).why(
                        "the function joins two tuples, with one value of each tile, into one",
                    ),
                );
            }
            vec![Val::Error; nums.len()]
        })
    }

    /// The same without references.
    fn with_plain_leaves(&self, val: Val) -> Val {
        let val = self.plain(val);
        let Val::Tuple(parts) = &val else { return val };
        tuple(parts.iter().map(|part| self.with_plain_leaves(part.clone())).collect())
    }

    /// A tuple in words, with what it has in it.
    fn describe_tuple(&self, val: &Val) -> String {
        let Val::Tuple(parts) = val else { return self.describe(val) };
        if parts.iter().any(|part| matches!(part, Val::Tuple(_))) {
            return format!("a tuple of the form {}", form(val));
        }
        format!("a tuple of {}", counted(parts.len(), "value"))
    }

    /// A zero for each tile of a tuple, as an initial value is written.
    pub(crate) fn zeros_of_each(&self, of: &Val) -> Option<String> {
        let Val::Tuple(parts) = of else {
            let num = self.num(of.value()?);
            let mask = self.cells.known(num) == Some(Dtype::Bool);
            return Some(if mask { "false".to_owned() } else { self.whole_number("0", num) });
        };
        let zeros: Option<Vec<String>> =
            parts.iter().map(|part| self.zeros_of_each(part)).collect();
        Some(format!("({})", zeros?.join(", ")))
    }

    /// A closure that adds the values of two tuples, or two values: masks are combined by `|`.
    pub(crate) fn sums_of_each(&self, of: &Val) -> Option<String> {
        let Val::Tuple(parts) = of else {
            return Some(format!("|a, b| {}", self.sum_of_two(of, ["a", "b"])?));
        };
        let mut sums = Vec::new();
        let mut sides = [Vec::new(), Vec::new()];
        for (index, part) in parts.iter().enumerate() {
            let [a, b] = ["a", "b"].map(|side| format!("{side}{index}"));
            sums.push(self.sum_of_two(part, [&a, &b])?);
            sides[0].push(a);
            sides[1].push(b);
        }
        let [a, b] = sides.map(|names| names.join(", "));
        Some(format!("|({a}), ({b})| ({})", sums.join(", ")))
    }

    /// The sum of an element of a tile and another one, by their names; none if the elements have no arithmetic.
    fn sum_of_two(&self, tile: &Val, [a, b]: [&str; 2]) -> Option<String> {
        let dtype = self.cells.known(self.num(tile.value()?));
        match dtype {
            Some(Dtype::Bool) => Some(format!("{a} | {b}")),
            Some(dtype) if dtype.is_opaque() || dtype.is_float8() => None,
            Some(_) | None => Some(format!("{a} + {b}")),
        }
    }
}

/// The values in a tuple and the tuples in it, in order.
fn each(val: &Val) -> Vec<&Val> {
    if let Val::Tuple(parts) = val { parts.iter().flat_map(each).collect() } else { vec![val] }
}

/// Values in the tuples that the tiles of `like` are in.
fn grouped(like: &Val, values: &[Value]) -> Val {
    fn next(like: &Val, values: &mut impl Iterator<Item = Value>) -> Val {
        if let Val::Tuple(parts) = like {
            return tuple(parts.iter().map(|part| next(part, values)).collect());
        }
        values.next().map_or(Val::Error, Val::Value)
    }
    next(like, &mut values.iter().copied())
}

/// Whether both are values in tuples of the same form.
fn is_like(val: &Val, like: &Val) -> bool {
    if let (Val::Tuple(parts), Val::Tuple(others)) = (val, like) {
        let mut pairs = parts.iter().zip(others.iter());
        return parts.len() == others.len() && pairs.all(|(part, other)| is_like(part, other));
    }
    !matches!(val, Val::Tuple(_)) && !matches!(like, Val::Tuple(_))
}

/// A tuple with an underscore for each value.
fn form(val: &Val) -> String {
    let Val::Tuple(parts) = val else { return "_".to_owned() };
    format!("({})", parts.iter().map(form).collect::<Vec<_>>().join(", "))
}

/// What an expression gives at its end, out of the blocks around it.
fn last(expr: &Expr) -> &Expr {
    let ExprKind::Block(block) = &expr.kind else { return expr };
    block.tail.as_deref().map_or(expr, last)
}

/// Where each value of a tuple stands that is written out here; the innermost place around it otherwise.
fn places(expr: &Expr, like: &Val) -> Vec<Loc> {
    let Val::Tuple(vals) = like else { return vec![expr.loc] };
    if let ExprKind::Tuple(parts) = &expr.kind
        && parts.len() == vals.len()
    {
        return parts.iter().zip(vals.iter()).flat_map(|(part, val)| places(part, val)).collect();
    }
    vec![expr.loc; each(like).len()]
}
