//! Windows of listed rows, `tensor.tile_rows(rows, at, shape)`: elements at a tile of addresses, with a mask of those within the tensor.
//!
//! | rule | required |
//! |---|---|
//! | rows | a tile of `i32` of rank 1, with the window's first extent |
//! | elements | numbers |
//! | access | a load, a store, or a copy into shared memory |

use std::rc::Rc;

use crate::{
    diag::Code,
    elaborate::{
        Builder,
        language::value::{Num, Part, Val, ViewVal},
        signatures::Given,
    },
    ir::{
        Binary, Compare, Copied, CopyOp, Dtype, Elem, Evict, MemoryOp, SharedType, SourceOp,
        TileOp, Type, Value,
    },
    loc::Loc,
};

impl Builder<'_> {
    /// `tensor.tile_rows(rows, at, shape)`
    pub(crate) fn window_of_rows(&mut self, given: &Given<'_>) -> Option<Val> {
        let (param, loc) = (given.tensor(), given.loc);
        let data = &self.params[param as usize];
        if data.points_to.is_some() {
            let diagnostic = Code::DtypeRefused
                .at(loc, "rows of a tensor of pointers are not listed")
                .place(data.loc, "the tensor")
                .why("the window is made of addresses of its elements, and pointers have no address in a kernel")
                .help(format!("{}.load()", self.window_of(param)))
                .exemplified();
            return self.refuse(diagnostic);
        }
        let (numbers, place) = given.arg(0);
        self.one_row(numbers, place)?;
        let what = "a window of rows needs a tile of row numbers";
        let (rows, count) = self.row_tile(numbers, what, place)?;
        let (at, places, shape) = self.corner_and_extents(1, given)?;
        if shape[0] != count {
            return self.refuse(
                Code::ShapeMismatch
                    .at(given.args[2].part(0), "a window of rows has one row for each number")
                    .compare("first extent", count, shape[0])
                    .place(given.at(0), "the numbers of the rows")
                    .help(count.to_string()),
            );
        }
        let dtype = self.params[param as usize].kind.dtype();
        self.check_budget(&shape, Num::Known(dtype), loc)?;
        let address = self.origin_by(SourceOp::TensorPtr(param), given);
        let (mut address, mut mask) = (self.value(&address, loc)?, None);
        for (axis, &extent) in (0u32..).zip(&shape) {
            let index = if axis == 0 {
                rows
            } else {
                let ty = Type::Tile(Elem::Number(Dtype::I32), vec![extent]);
                self.emit(SourceOp::Arange(0), Vec::new(), ty, loc)
            };
            let index = self.on_axis(index, axis, shape.len(), loc);
            let index = self.binary(Binary::Add, &Val::Value(index), &at[axis as usize], loc);
            let extent = self.dim(axis, given);
            let within = self.is_within(axis, &index, &extent, loc)?;
            mask = Some(match mask {
                None => within,
                Some(mask) => self.binary(Binary::And, &mask, &within, loc),
            });
            let index = self.cast(&index, Num::Known(Dtype::I64), loc)?;
            let stride =
                self.number_of(SourceOp::ParamStride(param, axis), Vec::new(), Dtype::I64, given);
            let distance = self.binary(Binary::Mul, &index, &stride, loc);
            let moved = self.binary(Binary::Add, &Val::Value(address), &distance, loc);
            address = self.value(&moved, loc)?;
        }
        let mask = self.value(&mask?, loc)?;
        let mask = self.broadcast_to(mask, &shape, loc);
        // Before its use, a note of where the rows stand: addresses differ from thread to thread because of them.
        self.note_use(rows, loc, given.at(0));
        Some(Val::View(Rc::new(ViewVal {
            param,
            at: vec![Val::Value(address), Val::Value(mask)],
            places,
            shape,
            part: Part::Rows,
            evict: Evict::Normal,
            order: None,
            scope: None,
        })))
    }

    /// Reports one number in place of a list.
    fn one_row(&mut self, number: &Val, loc: Loc) -> Option<()> {
        let value = self.value(number, loc)?;
        if !matches!(self.ty(value), Type::Scalar(Elem::Number(_))) {
            return Some(());
        }
        let help = if self.is_point(value) {
            ".expand(0)".to_owned()
        } else {
            self.full_of(&[1], number, Dtype::I32)
        };
        self.refuse(
            Code::Kind
                .at(loc, "a window of rows needs a tile of row numbers")
                .compare("", "a `Tile<i32>`", self.describe(number))
                .help(help),
        )
    }

    /// A tile of rank 1 along one axis of so many, with an extent of 1 on all others.
    fn on_axis(&mut self, tile: Value, axis: u32, rank: usize, loc: Loc) -> Value {
        let mut shape = self.ty(tile).shape().to_vec();
        let mut tile = tile;
        for other in (0u32..).take(rank).filter(|&other| other != axis) {
            shape.insert(other as usize, 1);
            let ty = Type::Tile(Elem::Number(Dtype::I32), shape.clone());
            tile = self.emit(TileOp::Expand(other), vec![tile], ty, loc);
        }
        tile
    }

    /// Whether indices are within an axis.
    ///
    /// As numbers without a sign, negative ones are too large: rows take one comparison. Along other axes neighbours have to have one
    /// outcome together where that is known, which follows from their order.
    fn is_within(&mut self, axis: u32, index: &Val, extent: &Val, loc: Loc) -> Option<Val> {
        if axis == 0 {
            let [index, extent] =
                [index, extent].map(|val| self.cast(val, Num::Known(Dtype::U32), loc));
            return self.compare(Compare::Lt, &index?, &extent?, loc);
        }
        let from = self.compare(Compare::Ge, index, &Val::i32(0), loc)?;
        let to = self.compare(Compare::Lt, index, extent, loc)?;
        Some(self.binary(Binary::And, &from, &to, loc))
    }

    /// `view.load()`
    pub(super) fn load_rows(
        &mut self,
        view: &ViewVal,
        (at, mask): (Value, Value),
        loc: Loc,
    ) -> Val {
        let dtype = self.params[view.param as usize].kind.dtype();
        let zero = self.zero(Num::Known(dtype), loc);
        let zero = self.splat(zero, &view.shape, loc);
        let ty = Type::Tile(Elem::Number(dtype), view.shape.clone());
        let tile = self.emit(MemoryOp::LoadPtr { masked: true }, vec![at, mask, zero], ty, loc);
        self.mark_of_param(view.param, tile);
        Val::Value(tile)
    }

    /// `copy_async(view, to)`
    pub(super) fn copy_rows(
        &mut self,
        view: &ViewVal,
        (at, mask): (Value, Value),
        (window, shared): (Value, &SharedType),
        given: &Given<'_>,
    ) -> Option<()> {
        let (dtype, place) = (self.params[view.param as usize].kind.dtype(), given.at(1));
        self.whole_window(window, shared, place)?;
        self.own_window(shared, "a copy from a tensor", place)?;
        self.same_elements_in_order(&shared.shape, &view.shape, given.loc)?;
        self.copied_dtype(dtype, (window, shared), place)?;
        let zero = self.zero(Num::Known(dtype), given.loc);
        let copied = Copied::Addresses { masked: true };
        self.does(CopyOp::Async(copied, Evict::Normal), vec![at, mask, zero, window], given)
    }

    /// Reports a window of rows where only one of neighbouring rows can stand.
    pub(super) fn neighbouring_rows(
        &mut self,
        view: &ViewVal,
        what: &str,
        given: &Given<'_>,
    ) -> Option<()> {
        if view.part != Part::Rows {
            return Some(());
        }
        let name = &self.params[view.param as usize].name;
        let window = self.window_of(view.param);
        let call =
            format!("{}({})", given.signature.name, if given.args.is_empty() { "" } else { ".." });
        self.refuse(
            Code::ByRows
                .at(given.loc, format!("{what} does not take a window of listed rows"))
                .compare("", format!("a window of neighbouring rows: `{window}`"), format!("`{name}.tile_rows(..)`"))
                .why("such a window is a tile of addresses with a mask, which loads, stores and asynchronous copies take")
                .help(format!("{window}.{call}"))
                .exemplified(),
        )
    }
}
