//! Shapes: splat, broadcast, expand, reshape.

use crate::{
    diag::{Code, SPILLED},
    elaborate::{
        Builder,
        language::value::{Num, Val},
        signatures::Given,
    },
    ir::{Op, StmtKind, TileOp, Type, Value},
    layouts::MAX_REGISTERS,
    loc::Loc,
};

/// Operations between a reduction and the tile that lacks its axis.
const MOST_STEPS_BACK: usize = 8;

impl Builder<'_> {
    /// One scalar in every element.
    pub(crate) fn splat(&mut self, scalar: Value, shape: &[u32], loc: Loc) -> Value {
        let num = self.num(scalar);
        if self.is_ptr(scalar) {
            let ty = self.ty(scalar).elem().expect("pointers have an element");
            return self.emit(TileOp::Splat, vec![scalar], Type::Tile(ty, shape.to_vec()), loc);
        }
        self.emit_num(TileOp::Splat, vec![scalar], Some(shape.to_vec()), num, loc)
    }

    pub(crate) fn broadcast_to(&mut self, tile: Value, shape: &[u32], loc: Loc) -> Value {
        if self.ty(tile).shape() == shape {
            return tile;
        }
        let num = self.num(tile);
        if self.is_ptr(tile) {
            let ty = self.ty(tile).elem().expect("pointers have an element");
            return self.emit(TileOp::Broadcast, vec![tile], Type::Tile(ty, shape.to_vec()), loc);
        }
        self.emit_num(TileOp::Broadcast, vec![tile], Some(shape.to_vec()), num, loc)
    }

    /// Brings two operands to one shape: scalars are splatted, extents of 1 repeated.
    pub(crate) fn same_shape(
        &mut self,
        a: Value,
        b: Value,
        what: &str,
        loc: Loc,
    ) -> Option<(Value, Value)> {
        if let Some(barrier) =
            [a, b].into_iter().find(|value| matches!(self.ty(*value), Type::Barrier(_)))
        {
            let actual = self.describe(&Val::Value(barrier));
            return self.refuse(Code::Kind.at(loc, format!("{what} is not defined on {actual}")));
        }
        let window = [a, b].into_iter().find_map(|value| Some((value, self.memory_of(value)?)));
        if let Some((window, memory)) = window {
            let named = self.written(&Val::Value(window)).map(|name| name + ".load()");
            return self.refuse(
                Code::Kind.at(loc,
                    format!("{what} works on tiles in registers, not on {memory} memory"),
                )
                .why(format!("arithmetic needs its operands in registers; load a tile in {memory} memory first"))
                .help(".load()")
                .of_operand(usize::from(window != a), named),
            );
        }
        let (p, q) = (self.ty(a).shape().to_vec(), self.ty(b).shape().to_vec());
        match (p.is_empty(), q.is_empty()) {
            (true, true) => return Some((a, b)),
            (true, false) => return Some((self.splat(a, &q, loc), b)),
            (false, true) => return Some((a, self.splat(b, &p, loc))),
            (false, false) => {}
        }
        let joined: Option<Vec<u32>> = (p.len() == q.len())
            .then(|| {
                p.iter()
                    .zip(&q)
                    .map(
                        |(x, y)| if x == y || *y == 1 { Some(*x) } else { (*x == 1).then_some(*y) },
                    )
                    .collect()
            })
            .flatten();
        let Some(shape) = joined else {
            let mut diagnostic = Code::ShapeMismatch
                .at(loc, format!("{what} combines tiles of different shapes"))
                .compare("", "equal extents, or 1 on one side", format!("{p:?} and {q:?}"));
            if p.len() != q.len() {
                diagnostic = diagnostic.why(
                    "elements are paired by index, so both sides need the same number of axes",
                );
            }
            let short = if p.len() < q.len() { a } else { b };
            let reduced = self.reduced(short).map(|axis| (short == a, axis));
            let missing = missing_axis(&p, &q).or_else(|| {
                let fits = |(left, axis): &(bool, usize)| {
                    let (short, long) = if *left { (&p, &q) } else { (&q, &p) };
                    fits_without(short, long, *axis)
                };
                reduced.filter(|_| p.len().abs_diff(q.len()) == 1).filter(fits)
            });
            if let Some((left, axis)) = missing {
                diagnostic = diagnostic
                    .why("`.expand(axis)` adds an axis of extent 1")
                    .help(format!(".expand({axis})"))
                    .of_operand(
                        usize::from(!left),
                        self.written(&Val::Value(short))
                            .map(|name| format!("{name}.expand({axis})")),
                    );
            }
            if p.len() == q.len()
                && let Some((index, axis)) = self.expanded_otherwise([a, b], [&p, &q])
            {
                diagnostic = diagnostic
                    .why("`.expand(axis)` adds an axis of extent 1: here another one is missing")
                    .help(format!(".expand({axis})"))
                    .of_operand(index, None);
            }
            if p.len() + q.len() == 3 && missing.is_none() {
                diagnostic = diagnostic
                    .why("`.expand(0)` makes a row of the vector, and `.expand(1)` a column");
            }
            return self.refuse(diagnostic);
        };
        if shape != p && shape != q {
            let num = self.num(a);
            self.check_budget(&shape, num, loc)?;
        }
        Some((self.broadcast_to(a, &shape, loc), self.broadcast_to(b, &shape, loc)))
    }

    /// Which of two tiles got its axis of extent 1 in the wrong place, and the only place where it fits.
    fn expanded_otherwise(&self, tiles: [Value; 2], shapes: [&[u32]; 2]) -> Option<(usize, u32)> {
        let mut stmts = self.regions.iter().rev().flat_map(|region| region.stmts.iter().rev());
        let (index, of) = stmts.find_map(|stmt| {
            let StmtKind::Op { op: Op::Tile(TileOp::Expand(_)), args, result } = &stmt.kind else {
                return None;
            };
            let index = tiles.iter().position(|tile| *result == Some(*tile))?;
            Some((index, args[0]))
        })?;
        let (short, long) = (self.ty(of).shape(), shapes[1 - index]);
        let mut fitting = (0..long.len()).filter(|axis| fits_without(short, long, *axis));
        let axis = fitting.next().filter(|_| fitting.next().is_none())?;
        Some((index, u32::try_from(axis).ok()?))
    }

    /// The axis over which a tile was reduced last; what is computed from it with scalars counts as well.
    fn reduced(&self, mut tile: Value) -> Option<usize> {
        for _ in 0..MOST_STEPS_BACK {
            let mut stmts = self.regions.iter().rev().flat_map(|region| region.stmts.iter().rev());
            let stmt = stmts.find(|stmt| stmt.kind.results().contains(&tile))?;
            if let StmtKind::Reduce { axis, .. } = &stmt.kind {
                return usize::try_from(*axis).ok();
            }
            let StmtKind::Op { args, .. } = &stmt.kind else { return None };
            let shape = self.ty(tile).shape();
            tile = *args.iter().find(|arg| self.ty(**arg).shape() == shape)?;
        }
        None
    }

    /// The memory that a value is a window of, in words; none of what is in registers.
    pub(crate) fn memory_of(&self, value: Value) -> Option<&'static str> {
        match self.ty(value) {
            Type::Shared(_) => Some("shared"),
            Type::TensorMemory(_) => Some("tensor"),
            Type::Scalar(_) | Type::Tile(..) | Type::Barrier(_) | Type::Error => None,
        }
    }

    /// A tile operand, or a report.
    pub(crate) fn tile(&mut self, val: &Val, what: &str, loc: Loc) -> Option<Value> {
        let value = self.value(val, loc)?;
        if let Type::Tile(..) = self.ty(value) {
            return Some(value);
        }
        let actual = self.describe(&Val::Value(value));
        let mut diagnostic = Code::Kind.at(loc, format!("{what} needs a tile")).compare(
            "",
            "a tile in registers",
            actual,
        );
        if self.memory_of(value).is_some() {
            diagnostic = diagnostic
                .why("a tile is in the registers of the threads; memory is read by `load`")
                .help(self.applied(value, ".load()"));
        }
        self.refuse(diagnostic)
    }

    /// Whether a block of this many warps can hold a tile of this element type in registers.
    pub(crate) fn check_budget(&mut self, shape: &[u32], num: Num, loc: Loc) -> Option<()> {
        let bytes = self.cells.settled(num).bytes();
        self.check_registers(shape, bytes, loc)
    }

    /// Like [`Builder::check_budget`], for elements of this many bytes. Each has registers of its own, even if it is small.
    fn check_registers(&mut self, shape: &[u32], bytes: u32, loc: Loc) -> Option<()> {
        let elements = shape.iter().fold(1u64, |all, e| all.saturating_mul(u64::from(*e)));
        let registers = elements.saturating_mul(u64::from(bytes.div_ceil(4)));
        let threads = u64::from(self.warps * 32);
        if registers <= threads * MAX_REGISTERS {
            return Some(());
        }
        if self.too_large.is_some_and(|first| first != loc) {
            // What is computed with the first one is as large.
            return None;
        }
        self.too_large = Some(loc);
        let warps =
            if self.warps == 1 { "one warp".to_owned() } else { format!("{} warps", self.warps) };
        let mut diagnostic = Code::TileBudget
            .at(loc, format!("a tile of {elements} elements does not fit the registers of {warps}"))
            .compare(
                "registers a thread",
                format!("at most {MAX_REGISTERS}"),
                registers.div_ceil(threads),
            )
            .why(SPILLED);
        let enough = registers.div_ceil(32 * MAX_REGISTERS).next_power_of_two();
        if enough <= self.crew.most_warps() {
            diagnostic = diagnostic.help(self.warps_written(enough));
        }
        self.refuse(diagnostic)
    }

    /// An axis of what has `limit` of them; from -1 on they count from the last one.
    pub(crate) fn axis_from_either_end(
        &mut self,
        val: &Val,
        limit: usize,
        what: &str,
        loc: Loc,
    ) -> Option<u32> {
        let axis = self.const_int(val, "an axis", loc)?;
        let from_the_first = if axis < 0 { axis + limit as i128 } else { axis };
        if let Ok(axis) = u32::try_from(from_the_first)
            && (axis as usize) < limit
        {
            return Some(axis);
        }
        let required = format!("0 to {}, or -1 to -{limit} from the last", limit.saturating_sub(1));
        self.refuse(
            Code::Axis
                .at(loc, format!("{what} has no axis {axis}"))
                .compare("axis", required, axis)
                .help_if((limit > 0).then(|| limit.saturating_sub(1).to_string())),
        )
    }

    /// An axis of what has `limit` of them.
    pub(crate) fn axis(&mut self, val: &Val, limit: usize, what: &str, loc: Loc) -> Option<u32> {
        let axis = self.const_int(val, "an axis", loc)?;
        let found = u32::try_from(axis).ok().filter(|axis| (*axis as usize) < limit);
        if found.is_some() {
            return found;
        }
        let last = limit.saturating_sub(1);
        let diagnostic = Code::Axis.at(loc, format!("{what} has no axis {axis}")).compare(
            "axis",
            format!("0 to {last}"),
            axis,
        );
        self.refuse(if what == "the grid" && axis > 2 {
            diagnostic
                .why("a launch has three axes (CUDA C++ Programming Guide, \"Thread Hierarchy\"); a fourth one shares an axis with another")
                .help("let (third, fourth) = (block_id(2) % 4, block_id(2) / 4); // of 4 blocks along the third")
                .exemplified()
        } else {
            diagnostic.help_if((limit > 0).then(|| last.to_string()))
        })
    }

    /// `x.expand(axis)`
    pub(crate) fn expand(&mut self, given: &Given<'_>) -> Option<Val> {
        let (tile, axis) = (given.receiver(), given.number(0));
        let mut shape = self.ty(tile).shape().to_vec();
        if self.is_point(tile) {
            return self.point_over(tile, &[1], given.loc);
        }
        if shape.len() == 5 {
            return self.refuse(Code::Axis.at(given.loc, "a tile has at most 5 axes"));
        }
        shape.insert(axis as usize, 1);
        Some(self.reshaped(TileOp::Expand(axis), tile, shape, given.loc))
    }

    /// An operation that keeps the element type.
    pub(crate) fn reshaped(
        &mut self,
        op: impl Into<Op>,
        tile: Value,
        shape: Vec<u32>,
        loc: Loc,
    ) -> Val {
        if self.is_ptr(tile) {
            let elem = self.ty(tile).elem().expect("pointers have an element");
            return Val::Value(self.emit(op, vec![tile], Type::Tile(elem, shape), loc));
        }
        let num = self.num(tile);
        Val::Value(self.emit_num(op, vec![tile], Some(shape), num, loc))
    }

    /// `x.reshape(shape)`
    pub(crate) fn reshape(&mut self, given: &Given<'_>) -> Option<Val> {
        let (tile, shape) = (given.receiver(), given.shape(0));
        let have: u64 = self.ty(tile).shape().iter().map(|e| u64::from(*e)).product();
        let want: u64 = shape.iter().map(|e| u64::from(*e)).product();
        if have != want {
            let actual = self.ty(tile).shape().to_vec();
            return self.refuse(
                Code::ShapeMismatch
                    .at(given.loc, "`reshape` keeps the number of elements")
                    .compare("elements", have, want)
                    .why(format!("the tile has extents {actual:?}")),
            );
        }
        if self.is_point(tile) {
            return self.point_over(tile, &shape, given.loc);
        }
        Some(self.reshaped(TileOp::Reshape, tile, shape, given.loc))
    }

    /// `x.broadcast(shape)`
    pub(crate) fn broadcast(&mut self, given: &Given<'_>) -> Option<Val> {
        let (tile, shape) = (given.receiver(), given.shape(0));
        if self.is_point(tile) {
            return self.point_over(tile, &shape, given.loc);
        }
        let have = self.ty(tile).shape().to_vec();
        let fits =
            have.len() == shape.len() && have.iter().zip(&shape).all(|(h, s)| h == s || *h == 1);
        if !fits {
            let required = format!("extents that are 1 or equal those of {shape:?}");
            let headline = "`broadcast` repeats axes of extent 1";
            return self.refuse(Code::ShapeMismatch.at(given.loc, headline).compare(
                "",
                required,
                format!("{have:?}"),
            ));
        }
        let num = self.num(tile);
        self.check_budget(&shape, num, given.loc)?;
        Some(Val::Value(self.broadcast_to(tile, &shape, given.loc)))
    }

    /// A tile of one element type.
    pub(crate) fn tile_of(
        &mut self,
        op: impl Into<Op>,
        args: Vec<Value>,
        shape: Vec<u32>,
        num: Num,
        loc: Loc,
    ) -> Val {
        if self.check_budget(&shape, num, loc).is_none() {
            return Val::Error;
        }
        Val::Value(self.emit_num(op, args, Some(shape), num, loc))
    }
}

/// Where an axis of extent 1 would make two shapes fit: whether on the left, and its position. `None` if there
/// is not exactly one such place, so that nothing is guessed.
fn missing_axis(left: &[u32], right: &[u32]) -> Option<(bool, usize)> {
    let (short, long, on_left) = match left.len().checked_sub(right.len()) {
        Some(1) => (right, left, false),
        None if left.len() + 1 == right.len() => (left, right, true),
        _ => return None,
    };
    let mut fitting = (0..long.len()).filter(|axis| fits_without(short, long, *axis));
    let first = fitting.next()?;
    fitting.next().is_none().then_some((on_left, first))
}

/// Whether extents fit others of which one axis is left out.
fn fits_without(short: &[u32], long: &[u32], axis: usize) -> bool {
    let others = long.iter().enumerate().filter(|(at, _)| *at != axis).map(|(_, extent)| extent);
    axis < long.len() && short.iter().zip(others).all(|(x, y)| x == y || *x == 1 || *y == 1)
}
