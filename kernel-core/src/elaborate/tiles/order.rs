//! Tiles in order: sorts, the largest elements, elements at indices, counts of values.
//!
//! The IR sorts integers. Elements become integers that are in the same order: those of a float are its bits, inverted below the sign if that
//! is set, and a NaN is the last of them. If indices are asked for, each is the low half of a word, below its element, so that of equal
//! elements the one with the lower index comes first. Elements of 64 bits are sorted twice: by their low words, and then by their high ones.

use crate::{
    diag::Code,
    elaborate::{
        Builder,
        language::value::{Num, Val},
        signatures::Given,
        tiles::arith::int_range,
        tuple,
    },
    ir::{Binary, Compare, Const, Dtype, Elem, SourceOp, TileOp, Type, Unary, Value},
    loc::Loc,
};

/// Which elements come first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The least.
    Ascending,
    /// The greatest.
    Descending,
}

/// Lines of elements that are sorted.
#[derive(Clone, Copy)]
struct Lines {
    axis: u32,
    /// The type of the elements.
    dtype: Dtype,
    order: Order,
    loc: Loc,
}

impl Lines {
    /// The type of the integers that are sorted in place of the elements.
    fn key(self) -> Dtype {
        match (self.dtype.is_float(), self.dtype.bytes()) {
            (false, _) => self.dtype,
            (true, 2) => Dtype::I16,
            (true, 4) => Dtype::I32,
            (true, _) => Dtype::I64,
        }
    }

    /// The largest integer of that type.
    fn last(self) -> i128 {
        int_range(self.key()).map_or(0, |(_, last)| last)
    }
}

/// The type of a word that holds an element and its index, and the bits of the index.
fn word(key: Dtype, extent: u32) -> (Dtype, u32) {
    let narrow = key.bytes() <= 2 && extent <= 1 << 16;
    match (narrow, key.is_signed()) {
        (true, true) => (Dtype::I32, 16),
        (true, false) => (Dtype::U32, 16),
        (false, true) => (Dtype::I64, 32),
        (false, false) => (Dtype::U64, 32),
    }
}

fn number(value: impl Into<i128>, dtype: Dtype) -> Val {
    Val::Const(Const::Int(value.into()), Num::Known(dtype))
}

/// How indices get the extents of a tile but for that of an axis, if only one way is likely: an index for each line, or the same indices in
/// each line.
fn spread(have: &[u32], asked: &[u32], axis: u32) -> Option<String> {
    let axis = axis as usize;
    let fits = |asked: &[u32]| {
        let mut pairs = have.iter().zip(asked).enumerate();
        pairs.all(|(at, (a, b))| at == axis || a == b || *b == 1)
    };
    let whole = |asked: &[u32]| {
        let mut whole = have.to_vec();
        whole[axis] = asked[axis];
        whole
    };
    if asked.len() == have.len() {
        return fits(asked).then(|| format!(".broadcast({:?})", whole(asked)));
    }
    if asked.len() + 1 != have.len() {
        return None;
    }
    let with = |at: usize| {
        let mut wide = asked.to_vec();
        wide.insert(at, 1);
        wide
    };
    if whole(&with(axis)) == with(axis) {
        return Some(format!(".expand({axis})"));
    }
    let mut ways = (0..have.len()).map(|at| (at, with(at))).filter(|(_, wide)| fits(wide));
    let (at, wide) = ways.next()?;
    ways.next().is_none().then(|| format!(".expand({at}).broadcast({:?})", whole(&wide)))
}

impl Builder<'_> {
    /// `x.sort(axis)`, `x.sort_descending(axis)`
    pub(crate) fn sorted(&mut self, order: Order, given: &Given<'_>) -> Option<Val> {
        let lines = self.lines(order, given.number(0), given)?;
        let keys = self.keys(given.receiver(), lines)?;
        let extent = self.extent_along(given.receiver(), lines.axis);
        let sorted = self.least(&keys, extent, lines)?;
        self.of_keys(&sorted, lines)
    }

    /// `x.argsort(axis)`, `x.argsort_descending(axis)`
    pub(crate) fn arg_sorted(&mut self, order: Order, given: &Given<'_>) -> Option<Val> {
        let lines = self.lines(order, given.number(0), given)?;
        let extent = self.extent_along(given.receiver(), lines.axis);
        self.first_of(given.receiver(), extent, lines).map(|[_, indices]| indices)
    }

    /// `x.top_k(k, axis)`
    pub(crate) fn top_k(&mut self, given: &Given<'_>) -> Option<Val> {
        let lines = self.lines(Order::Descending, given.number(1), given)?;
        let extent = self.extent_along(given.receiver(), lines.axis);
        if given.integer(0) > i128::from(extent) {
            return self.refuse(
                Code::ShapeMismatch
                    .at(given.at(0), "`top_k` gives at most the elements that there are")
                    .compare("elements", format!("at most {extent}"), given.integer(0))
                    .why(format!("axis {} of the tile has extent {extent}", lines.axis))
                    .help(extent.to_string()),
            );
        }
        let why = "the result is a tile, whose extents are powers of two; take more elements, and mask those that are not needed";
        let count = self.power_of_two("elements", extent, why, given)?;
        Some(tuple(self.first_of(given.receiver(), count, lines)?.to_vec()))
    }

    /// `x.gather(axis, indices)`
    pub(crate) fn gather_along(&mut self, given: &Given<'_>) -> Option<Val> {
        let (tile, axis) = (given.receiver(), given.number(0));
        if self.is_ptr(tile) {
            let actual = self.describe(&given.of);
            return self.refuse(
                Code::Kind
                    .at(given.loc, "`gather` takes a tile of numbers")
                    .compare("", "numbers", actual),
            );
        }
        let indices = self.indices_along(given)?;
        let (have, asked) = (self.ty(tile).shape(), self.ty(indices).shape());
        let fits = have.len() == asked.len()
            && (0u32..).zip(have.iter().zip(asked)).all(|(at, (a, b))| at == axis || a == b);
        if !fits {
            let required: Vec<String> = (0u32..)
                .zip(have)
                .map(|(at, extent)| if at == axis { "any".to_owned() } else { extent.to_string() })
                .collect();
            let (required, actual) = (format!("[{}]", required.join(", ")), format!("{asked:?}"));
            let help = spread(have, asked, axis);
            return self.refuse(
                Code::ShapeMismatch
                    .at(given.at(1), "the indices of `gather` do not have the extents of the tile")
                    .compare("", required, actual)
                    .why("each index chooses along the axis and keeps its own place on the other axes, so that these have equal extents")
                    .help_if(help),
            );
        }
        let (shape, num) = (asked.to_vec(), self.num(tile));
        self.check_budget(&shape, num, given.loc)?;
        Some(self.at_indices([tile, indices], axis, given.loc))
    }

    /// `x.histogram(bins)`
    pub(crate) fn histogram(&mut self, given: &Given<'_>) -> Option<Val> {
        let num = self.of_integers(&given.of, given)?;
        let tile = given.receiver();
        if self.is_point(tile) {
            return self.no_axes("`histogram` counts the elements of a tile", "1 to 5", given.loc);
        }
        self.settle(num);
        let why = "the counts are a tile, whose extents are powers of two; bins of values that do not occur stay zero";
        let bins = self.power_of_two("bins", 1 << 20, why, given)?;
        let counts = Num::Known(Dtype::I32);
        self.check_budget(&[bins], counts, given.loc)?;
        let (op, shape) = (TileOp::Histogram, Some(vec![bins]));
        Some(Val::Value(self.emit_num(op, vec![tile], shape, counts, given.loc)))
    }

    /// A number of elements, the first argument: a power of two.
    fn power_of_two(&mut self, unit: &str, most: u32, why: &str, given: &Given<'_>) -> Option<u32> {
        let asked = given.integer(0);
        let count = u32::try_from(asked).ok();
        if let Some(count) = count.filter(|count| count.is_power_of_two() && *count <= most) {
            return Some(count);
        }
        let up = count.and_then(u32::checked_next_power_of_two);
        let up = up.filter(|up| *up <= most && asked > 0);
        let headline = format!("the {unit} of `{}` are a power of two", given.path());
        self.refuse(
            Code::Extent
                .at(given.at(0), headline)
                .compare(unit, format!("a power of two from 1 to {most}"), asked)
                .why(why)
                .help_if(up.map(|up| up.to_string())),
        )
    }

    /// The indices of `gather`: a tile of `i32`.
    fn indices_along(&mut self, given: &Given<'_>) -> Option<Value> {
        let (val, loc) = given.arg(1);
        let value = self.value(val, loc)?;
        let headline = "`gather` takes a tile of indices";
        if !matches!(self.ty(value), Type::Tile(Elem::Number(_), _)) {
            let (required, actual) = ("a `Tile<i32>`", self.describe(val));
            return self.refuse(
                Code::Kind
                    .at(loc, headline)
                    .compare("", required, actual)
                    .why("each element of the result has an index of its own"),
            );
        }
        let num = self.num(value);
        if self.cells.unify(num, Num::Known(Dtype::I32)).is_err() {
            let diagnostic = Code::DtypeMismatch
                .at(loc, "the indices of `gather` are `i32`")
                .compare("", "i32", self.cells.name(num))
                .why("extents of tiles fit `i32`, like the positions that `arange` and `argsort` give");
            return self.refuse(self.cast_help(diagnostic, Dtype::I32, num));
        }
        Some(value)
    }

    /// What a call sorts.
    fn lines(&mut self, order: Order, axis: u32, given: &Given<'_>) -> Option<Lines> {
        self.of_numbers(given)?;
        let num = self.num(given.receiver());
        Some(Lines { axis, dtype: self.settle(num), order, loc: given.loc })
    }

    /// The element type, which is the usual one if the text leaves it open.
    fn settle(&mut self, num: Num) -> Dtype {
        let dtype = self.cells.settled(num);
        self.cells.unify(num, Num::Known(dtype)).expect("an open type may be the usual one");
        dtype
    }

    fn extent_along(&self, tile: Value, axis: u32) -> u32 {
        self.ty(tile).shape()[axis as usize]
    }

    /// The integers that are sorted in place of the elements.
    fn keys(&mut self, tile: Value, lines: Lines) -> Option<Val> {
        let Lines { dtype, order, loc, .. } = lines;
        let key = lines.key();
        let elements = Val::Value(tile);
        let ordered = |builder: &mut Self, keys: Val| match order {
            Order::Ascending => Some(keys),
            Order::Descending => builder.unary(Unary::Not, &keys, loc),
        };
        if !dtype.is_float() {
            return ordered(self, elements);
        }
        let bits = self.bitcast(&elements, Num::Known(key), loc)?;
        let keys = self.swapped_below_the_sign(&bits, lines);
        let keys = ordered(self, keys)?;
        let nan = self.compare(Compare::Ne, &elements, &elements, loc)?;
        self.select(&nan, [&number(lines.last(), key), &keys], loc)
    }

    /// The elements that were sorted as these integers.
    fn of_keys(&mut self, keys: &Val, lines: Lines) -> Option<Val> {
        let Lines { dtype, order, loc, .. } = lines;
        let keys = match order {
            Order::Ascending => keys.clone(),
            Order::Descending => self.unary(Unary::Not, keys, loc)?,
        };
        if !dtype.is_float() {
            return Some(keys);
        }
        let bits = self.swapped_below_the_sign(&keys, lines);
        self.bitcast(&bits, Num::Known(dtype), loc)
    }

    /// The bits of floats as integers in the same order, and back: negative ones have the bits below the sign inverted.
    fn swapped_below_the_sign(&mut self, bits: &Val, lines: Lines) -> Val {
        let (key, loc) = (lines.key(), lines.loc);
        let sign = self.binary(Binary::Shr, bits, &number(8 * key.bytes() - 1, key), loc);
        let below = self.binary(Binary::And, &sign, &number(lines.last(), key), loc);
        self.binary(Binary::Xor, bits, &below, loc)
    }

    /// The least integers of each line, as many as `count`, in ascending order.
    fn least(&mut self, keys: &Val, count: u32, lines: Lines) -> Option<Val> {
        let keys = self.value(keys, lines.loc)?;
        let mut shape = self.ty(keys).shape().to_vec();
        shape[lines.axis as usize] = count;
        let num = self.num(keys);
        Some(self.tile_of(TileOp::Sort(lines.axis), vec![keys], shape, num, lines.loc))
    }

    /// The elements of each line that come first, as many as `count`, and their indices.
    fn first_of(&mut self, tile: Value, count: u32, lines: Lines) -> Option<[Val; 2]> {
        let Lines { axis, loc, .. } = lines;
        let (key, keys) = (lines.key(), self.keys(tile, lines)?);
        if key.bytes() < 8 {
            let [keys, indices] = self.first_keys(&keys, key, count, lines)?;
            return Some([self.of_keys(&keys, lines)?, indices]);
        }
        // In the order of the low words, and of equal ones by index, the high words are sorted: of equal ones by that order.
        let high = if key.is_signed() { Dtype::I32 } else { Dtype::U32 };
        let low_words = self.cast(&keys, Num::Known(Dtype::U32), loc)?;
        let extent = self.extent_along(tile, axis);
        let [_, by_low] = self.first_keys(&low_words, Dtype::U32, extent, lines)?;
        let by_low = self.value(&by_low, loc)?;
        let high_words = self.binary(Binary::Shr, &keys, &number(32, key), loc);
        let high_words = self.cast(&high_words, Num::Known(high), loc)?;
        let high_words = self.value(&high_words, loc)?;
        let high_words = self.at_indices([high_words, by_low], axis, loc);
        let [_, by_both] = self.first_keys(&high_words, high, count, lines)?;
        let by_both = self.value(&by_both, loc)?;
        let indices = self.at_indices([by_low, by_both], axis, loc);
        let indices = self.value(&indices, loc)?;
        Some([self.at_indices([tile, indices], axis, loc), Val::Value(indices)])
    }

    /// The least integers of each line, of 32 bits or fewer, and their indices.
    fn first_keys(&mut self, keys: &Val, key: Dtype, count: u32, lines: Lines) -> Option<[Val; 2]> {
        let loc = lines.loc;
        let tile = self.value(keys, loc)?;
        let shape = self.ty(tile).shape().to_vec();
        let extent = shape[lines.axis as usize];
        let (word, bits) = word(key, extent);
        let (wide, bits) = (Num::Known(word), number(bits, word));
        self.check_budget(&shape, wide, loc)?;
        let indices = self.positions(&shape, lines.axis, loc);
        let indices = self.cast(&Val::Value(indices), wide, loc)?;
        let high = self.cast(keys, wide, loc)?;
        let high = self.binary(Binary::Shl, &high, &bits, loc);
        let words = self.binary(Binary::Or, &high, &indices, loc);
        let words = self.least(&words, count, lines)?;
        // No index has other bits, so that what is read at the indices needs no check.
        let indices = self.cast(&words, Num::Known(Dtype::I32), loc)?;
        let indices = self.binary(Binary::And, &indices, &number(extent - 1, Dtype::I32), loc);
        let high = self.binary(Binary::Shr, &words, &bits, loc);
        Some([self.cast(&high, Num::Known(key), loc)?, indices])
    }

    /// The position along an axis of each element of a shape.
    pub(super) fn positions(&mut self, shape: &[u32], axis: u32, loc: Loc) -> Value {
        let num = Num::Known(Dtype::I32);
        let extent = shape[axis as usize];
        let mut positions =
            self.emit_num(SourceOp::Arange(0), Vec::new(), Some(vec![extent]), num, loc);
        let mut line = vec![1; shape.len()];
        line[axis as usize] = extent;
        if shape.len() > 1 {
            positions = self.emit_num(TileOp::Reshape, vec![positions], Some(line), num, loc);
        }
        self.broadcast_to(positions, shape, loc)
    }

    /// The elements of a tile along an axis at the indices of another one.
    fn at_indices(&mut self, [tile, indices]: [Value; 2], axis: u32, loc: Loc) -> Val {
        let shape = self.ty(indices).shape().to_vec();
        let num = self.num(tile);
        let op = TileOp::Gather(axis);
        Val::Value(self.emit_num(op, vec![tile, indices], Some(shape), num, loc))
    }
}
