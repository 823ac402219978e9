//! Parts of tiles: `x.slice((0..32, ..))`, and `a.concat(b, axis)`, which puts two together.
//!
//! A part begins at a multiple of its extent, so that it is one of two halves, of a half, and so on: the positions of an axis of
//! extent 8 within `4..6` are those of the second half's first half. `split` takes one of two halves: of a last axis of two.

use std::rc::Rc;

use crate::{
    diag::Code,
    elaborate::{
        Builder,
        language::value::{RangeVal, Val},
        memory::slices::{ends_at, range_of},
        signatures::Given,
    },
    ir::{Op, StmtKind, TileOp, Value},
    loc::Loc,
};

/// Why parts are as they are.
const HALVES: &str = "extents are powers of two, and a part is a half of the axis, or a half of a half: it begins at a multiple of its extent";

/// How many statements back an operation is looked for.
const RECENT: usize = 64;

impl Builder<'_> {
    /// `tile.slice(ranges)`
    pub(crate) fn tile_slice(&mut self, given: &Given<'_>) -> Option<Val> {
        let tile = given.receiver();
        let shape = self.ty(tile).shape().to_vec();
        let parts = if let Val::Array(parts) | Val::Tuple(parts) = given.val(0) {
            parts.to_vec()
        } else {
            vec![given.val(0).clone()]
        };
        let one = matches!(given.val(0), Val::Range(_));
        if parts.len() != shape.len() {
            return self.refuse(
                Code::Axis
                    .at(given.at(0), "a slice has one range for each axis of its tile")
                    .compare("ranges", shape.len(), parts.len()),
            );
        }
        let mut within = Vec::new();
        for (axis, part) in parts.iter().enumerate() {
            let loc = if one { given.at(0) } else { given.args[0].part(axis) };
            let range = self.slice_range(part, range_of(&given.args[0], axis), loc)?;
            let places = ends_at(&given.args[0], axis, loc);
            within.push(self.part_of_axis(&range, (axis, shape[axis]), loc, places)?);
        }
        let mut of = tile;
        for (axis, (first, extent)) in within.into_iter().enumerate() {
            let mut whole = shape[axis];
            while whole > extent {
                whole /= 2;
                of = self.half(of, axis, u32::from(first & whole != 0), given.loc)?;
            }
        }
        Some(Val::Value(of))
    }

    /// Where a part begins on an axis, and its extent.
    fn part_of_axis(
        &mut self,
        range: &Rc<RangeVal>,
        (axis, whole): (usize, u32),
        loc: Loc,
        places: [Loc; 2],
    ) -> Option<(u32, u32)> {
        let end = |builder: &mut Self, val: &Val, open: u32, what: &str, loc: Loc| {
            if matches!(val, Val::Unit) {
                return Some(i128::from(open));
            }
            builder.const_int(val, what, loc)
        };
        let low = end(self, &range.from, 0, "where a part of a tile begins", places[0])?;
        let high = end(self, &range.to, whole, "where a part of a tile ends", places[1])?;
        if low < 0 || high > i128::from(whole) {
            let at = if low < 0 { places[0] } else { places[1] };
            return self.refuse(
                Code::Overflow
                    .at(at, "a part of a tile is within the tile")
                    .compare(
                        format!("positions on axis {axis}"),
                        format!("0..{whole}"),
                        format!("{low}..{high}"),
                    )
                    .why("no thread holds what is outside; windows of tensors may reach outside"),
            );
        }
        let extent = u32::try_from(high - low).ok().filter(|extent| extent.is_power_of_two());
        let Some(extent) = extent else {
            return self.refuse(
                Code::Extent
                    .at(loc, format!("a part of {} elements", (high - low).max(0)))
                    .compare("elements", "a power of two", (high - low).max(0))
                    .why(HALVES),
            );
        };
        let first = u32::try_from(low).expect("it is within the tile");
        if !first.is_multiple_of(extent) {
            let before = first / extent * extent;
            return self.refuse(
                Code::Overflow
                    .at(places[0], format!("a part of {extent} elements does not begin at {first}"))
                    .compare("", format!("a multiple of {extent}, such as {before}"), first)
                    .why(HALVES),
            );
        }
        Some((first, extent))
    }

    /// The first or the second half of a tile along an axis.
    fn half(&mut self, tile: Value, axis: usize, index: u32, loc: Loc) -> Option<Value> {
        let mut shape = self.ty(tile).shape().to_vec();
        let before: u32 = shape[..axis].iter().product();
        shape[axis] /= 2;
        let after: u32 = shape[axis..].iter().product();
        let pairs = self.once(TileOp::Reshape, tile, vec![before, 2, after], loc)?;
        let last = self.once(TileOp::Permute(vec![0, 2, 1]), pairs, vec![before, after, 2], loc)?;
        let half = self.once(TileOp::Split(index), last, vec![before, after], loc)?;
        self.once(TileOp::Reshape, half, shape, loc)
    }

    /// The result of an operation, of another part of the tile if that has it: what is converted for one half is for the other one too.
    fn once(&mut self, op: TileOp, tile: Value, shape: Vec<u32>, loc: Loc) -> Option<Value> {
        let op = Op::Tile(op);
        let open = self.regions.iter().rev();
        let mut recent = open.flat_map(|region| region.stmts.iter().rev().take(RECENT));
        let before = recent.find_map(|stmt| {
            let StmtKind::Op { op: found, args, result } = &stmt.kind else { return None };
            let fits = *found == op && args[..] == [tile];
            result.filter(|result| fits && self.ty(*result).shape() == shape)
        });
        before.or_else(|| self.reshaped(op, tile, shape, loc).value())
    }

    /// `a.concat(b, axis)`
    pub(crate) fn concat(&mut self, given: &Given<'_>) -> Option<Val> {
        let (loc, axis) = (given.loc, given.number(1) as usize);
        let a = given.receiver();
        let b = self.tile(given.val(0), "`concat` puts two tiles together", given.at(0))?;
        if self.is_ptr(a) || self.is_ptr(b) {
            return self.refuse(Code::Kind.at(loc, "`concat` takes tiles of numbers"));
        }
        let (of_a, of_b) = (self.ty(a).shape().to_vec(), self.ty(b).shape().to_vec());
        if of_a != of_b {
            return self.refuse(
                Code::ShapeMismatch
                    .at(given.at(0), "`concat` takes two tiles of one shape")
                    .compare("shape", format!("{of_a:?}"), format!("{of_b:?}"))
                    .why("extents are powers of two, and twice an extent is one"),
            );
        }
        let num = self.unify(self.num(a), self.num(b), "`concat`", loc)?;
        let before: u32 = of_a[..axis].iter().product();
        let after: u32 = of_a[axis..].iter().product();
        let mut shape = of_a;
        shape[axis] *= 2;
        self.check_budget(&shape, num, loc)?;
        let mut flat = Vec::new();
        for tile in [a, b] {
            let tile = self.reshaped(TileOp::Reshape, tile, vec![before, after], loc);
            flat.push(tile.value()?);
        }
        let pairs = self.emit_num(TileOp::Join, flat, Some(vec![before, after, 2]), num, loc);
        let turned =
            self.reshaped(TileOp::Permute(vec![0, 2, 1]), pairs, vec![before, 2, after], loc);
        Some(self.reshaped(TileOp::Reshape, turned.value()?, shape, loc))
    }
}
