//! Shared memory by index: its elements at tiles of indices, one tile for each axis.
//!
//! | rule | required |
//! |---|---|
//! | indices | a tile of `i32` for each axis: `i`, or `[i, j]` |
//! | their extents | equal, or 1 on one side |
//! | values | a tile of the memory's elements, with the extents of the indices |

use crate::{
    diag::Code,
    elaborate::{
        Builder,
        language::value::{Num, Val},
        signatures::Given,
    },
    ir::{Atomic, Dtype, Elem, MemoryOp, Type, Value},
    loc::Loc,
};

/// Elements of shared memory.
struct At {
    /// The window, and a tile of indices for each of its axes.
    operands: Vec<Value>,
    /// The extents of the tiles.
    shape: Vec<u32>,
}

impl Builder<'_> {
    /// `window.gather(indices)`
    pub(crate) fn gather_shared(&mut self, given: &Given<'_>) -> Option<Val> {
        let num = self.num(given.receiver());
        let At { operands, shape } = self.elements_at(given)?;
        self.check_budget(&shape, num, given.loc)?;
        let loc = given.loc;
        Some(Val::Value(self.emit_num(MemoryOp::GatherShared, operands, Some(shape), num, loc)))
    }

    /// `window.scatter(indices, values)`
    pub(crate) fn scatter_shared(&mut self, given: &Given<'_>) -> Option<()> {
        let operands = self.changes_at(given)?.operands;
        self.does(MemoryOp::ScatterShared, operands, given)
    }

    /// `window.atomic_add(indices, values)` and the like.
    pub(crate) fn atomic_shared(&mut self, op: Atomic, given: &Given<'_>) -> Option<Val> {
        let num = self.num(given.receiver());
        let At { operands, shape } = self.changes_at(given)?;
        self.wants_atomic(op, self.cells.settled(num), given)?;
        self.check_budget(&shape, num, given.loc)?;
        let op = MemoryOp::AtomicShared(op);
        Some(Val::Value(self.emit_num(op, operands, Some(shape), num, given.loc)))
    }

    /// Elements, and the tiles that are written there.
    fn changes_at(&mut self, given: &Given<'_>) -> Option<At> {
        let at = self.elements_at(given);
        let mut values = Vec::new();
        for index in 1..given.args.len() {
            values.push(self.value_at(given, index, at.as_ref().map(|at| &at.shape[..])));
        }
        let mut at = at?;
        for value in values {
            at.operands.push(value?);
        }
        Some(at)
    }

    /// The elements that the first argument names.
    fn elements_at(&mut self, given: &Given<'_>) -> Option<At> {
        let window = given.receiver();
        let Type::Shared(shared) = self.ty(window).clone() else { return None };
        self.whole_window(window, &shared, given.loc)?;
        if let Val::Tuple(_) = given.val(0) {
            let headline = "the indices of several axes are an array";
            return self.refuse_kind(headline, "an array such as `[rows, columns]`", given.arg(0));
        }
        let one = [given.val(0).clone()];
        let many = if let Val::Array(parts) = given.val(0) { Some(&parts[..]) } else { None };
        let parts = many.unwrap_or(&one);
        if parts.len() != shared.shape.len() {
            return self.refuse(
                Code::Axis
                    .at(given.at(0), "shared memory is indexed by one tile for each of its axes")
                    .compare("tiles of indices", shared.shape.len(), parts.len())
                    .place(self.shared[shared.root].loc, "the shared memory")
                    .why("an index on each axis names an element"),
            );
        }
        let indices: Vec<Option<Value>> = parts
            .iter()
            .enumerate()
            .map(|(axis, part)| {
                let loc = if many.is_some() { given.args[0].part(axis) } else { given.at(0) };
                let text = if many.is_some() { None } else { given.args[0].operand_text() };
                self.index_tile(part, text, loc)
            })
            .collect();
        let mut indices: Vec<Value> = indices.into_iter().collect::<Option<_>>()?;
        // The second round brings the first ones to the extents that the last ones add.
        for _ in 0..indices.len().min(2) {
            for other in 1..indices.len() {
                let name = format!("`{}`", given.path());
                let (first, second) =
                    self.same_shape(indices[0], indices[other], &name, given.at(0))?;
                (indices[0], indices[other]) = (first, second);
            }
        }
        let shape = self.ty(indices[0]).shape().to_vec();
        let operands = [window].into_iter().chain(indices).collect();
        Some(At { operands, shape })
    }

    /// A tile of indices, with its text if that is known.
    fn index_tile(&mut self, val: &Val, text: Option<String>, loc: Loc) -> Option<Value> {
        let value = self.value(val, loc)?;
        let headline = "shared memory is indexed by tiles of `i32`";
        if matches!(self.ty(value), Type::Scalar(Elem::Number(_))) {
            let (required, actual) = ("a `Tile<i32>`", self.describe(val));
            let help = if self.is_point(value) {
                ".expand(0)".to_owned()
            } else {
                let whole = || self.full_of(&[1], val, Dtype::I32);
                text.map_or_else(whole, |text| format!("full([1], {text})"))
            };
            return self
                .refuse(Code::Kind.at(loc, headline).compare("", required, actual).help(help));
        }
        let tile = self.tile(val, "an index of shared memory", loc)?;
        if self.is_ptr(tile) {
            let (required, actual) = ("a `Tile<i32>`", self.describe(val));
            return self.refuse(Code::Kind.at(loc, headline).compare("", required, actual));
        }
        let num = self.num(tile);
        if self.cells.unify(num, Num::Known(Dtype::I32)).is_err() {
            let diagnostic = Code::DtypeMismatch.at(loc, headline);
            let diagnostic = diagnostic
                .compare("", "i32", self.cells.name(num))
                .why("addresses of shared memory have 32 bits");
            return self.refuse(self.cast_help(diagnostic, Dtype::I32, num));
        }
        Some(tile)
    }

    /// A tile that is written: it has the elements of the memory, and the extents of the indices as far as these are known.
    fn value_at(
        &mut self,
        given: &Given<'_>,
        index: usize,
        shape: Option<&[u32]>,
    ) -> Option<Value> {
        let (val, loc) = given.arg(index);
        let value = self.value(val, loc)?;
        let dtype = self.cells.settled(self.num(given.receiver()));
        if matches!(self.ty(value), Type::Scalar(Elem::Number(_))) {
            let shape = shape?;
            let help = if self.is_point(value) {
                format!(".broadcast({shape:?})")
            } else {
                self.full_of(shape, val, dtype)
            };
            return self.refuse(
                Code::Kind
                    .at(loc, "a tile of indices takes a tile of values")
                    .compare(
                        "",
                        format!("a `Tile<{}>` of extents {shape:?}", dtype.name()),
                        self.describe(val),
                    )
                    .help(help),
            );
        }
        let tile = self.tile(val, &format!("`{}`", given.path()), loc)?;
        if self.is_ptr(tile) {
            return self.refuse(Code::DtypeRefused.at(loc, "addresses cannot be stored"));
        }
        let num = self.num(tile);
        if self.cells.unify(num, self.num(given.receiver())).is_err() {
            let headline = "the values do not have the element type of the shared memory";
            let diagnostic = Code::DtypeMismatch.at(loc, headline);
            let diagnostic = diagnostic.compare("", dtype.name(), self.cells.name(num));
            return self.refuse(self.cast_help(diagnostic, dtype, num));
        }
        if self.ty(tile).shape() != shape? {
            let (required, actual) =
                (format!("{:?}", shape?), format!("{:?}", self.ty(tile).shape()));
            return self.refuse(
                Code::ShapeMismatch
                    .at(loc, "the values do not have the extents of the indices")
                    .compare("", required, actual)
                    .place(given.at(0), "the indices")
                    .why("each value goes to the element that the index at its place names"),
            );
        }
        Some(tile)
    }
}
