//! TMA copies: `tma::load(map, [i, j], bar, tile)` and so on.

use crate::{
    diag::Code,
    elaborate::{
        Builder,
        language::value::{Num, Val},
        memory::bulk::in_other_order,
        signatures::Given,
    },
    ir::{
        CopyOp, Dtype, ParamKind, SharedType, StoreWait, Tma, TmaKind, TmaReduce, Type, Value,
        merges,
    },
    loc::Loc,
    syntax::Expr,
};

impl Builder<'_> {
    /// `tma::load(map, at, bar, to)`
    pub(crate) fn tma_load(&mut self, given: &Given<'_>) -> Option<()> {
        let barrier = given.value(2);
        self.note_coordinates(given, 3);
        self.part_by_map(given.map(0), given.window(3).1, given.at(3))?;
        let (tma, positions) = self.of_map(TmaKind::Load, given)?;
        self.tma_copy(tma, (positions, Some(barrier)), (given.window(3), given.at(3)), given.loc)
    }

    /// `tma::prefetch(map, at)`
    pub(crate) fn tma_prefetch(&mut self, given: &Given<'_>) -> Option<()> {
        self.note_coordinates(given, 1);
        let (tma, positions) = self.of_map(TmaKind::Prefetch, given)?;
        self.does(tma, positions, given)
    }

    /// `tma::store(map, at, from)`, and the reductions
    pub(crate) fn tma_store(&mut self, kind: TmaKind, given: &Given<'_>) -> Option<()> {
        self.note_coordinates(given, 2);
        self.part_by_map(given.map(0), given.window(2).1, given.at(2))?;
        let (tma, positions) = self.of_map(kind, given)?;
        self.tma_copy(tma, (positions, None), (given.window(2), given.at(2)), given.loc)
    }

    /// A copy by the map that a call begins with, or by that of a slice, and its positions.
    fn of_map(&mut self, kind: TmaKind, given: &Given<'_>) -> Option<(Tma, Vec<Value>)> {
        let (tma, corner) = (Tma::plain(kind, given.map(0)), given.corner(1));
        let Val::Slice(slice) = given.val(0) else { return Some((tma, corner)) };
        let at: Vec<Val> = corner.into_iter().map(Val::Value).collect();
        let positions = self.corner_in_slice(slice, &at, given.loc)?;
        let positions: Option<Vec<Value>> = positions.iter().map(Val::value).collect();
        self.bounded_copy(tma, &positions?, given.loc)
    }

    /// A window is whole tiles, or a part of one that may be a box: layouts tell whether it is one.
    fn part_by_map(&mut self, param: u32, shared: &SharedType, loc: Loc) -> Option<()> {
        let data = &self.params[param as usize];
        let dtype = data.kind.dtype();
        let boxes = data.map.filter.is_empty() && dtype.row().packing.is_none();
        let part = self.in_tile(shared, dtype).filter(|part| boxes && !part.transposed);
        if part.is_some() {
            return Some(());
        }
        self.whole_tiles(shared, "this TMA copy", loc)
    }

    /// Notes where a copy has its coordinates, which are its second argument; that with the tile is the `tile`th.
    fn note_coordinates(&mut self, given: &Given<'_>, tile: usize) {
        let corner = given.corner(1);
        for (index, &value) in corner.iter().enumerate() {
            self.note_use(value, given.loc, given.args[1].part(index));
        }
        let last = given.args[1].part(corner.len().saturating_sub(1));
        self.operands.insert(given.loc, [given.at(1), last, given.at(tile)]);
    }

    /// `tma::reduce_add(map, at, from)` and the like
    pub(crate) fn tma_reduce(&mut self, how: TmaReduce, given: &Given<'_>) -> Option<()> {
        let dtype = self.params[given.map(0) as usize].kind.dtype();
        self.reduces(how.takes(), dtype, given)?;
        self.tma_store(TmaKind::Reduce(how), given)
    }

    /// `tma::store_wait(pending)`, `tma::store_wait_written(pending)`
    pub(crate) fn store_wait(&mut self, until: StoreWait, given: &Given<'_>) -> Option<()> {
        self.does(CopyOp::BulkWait { pending: given.number(0), until }, Vec::new(), given)
    }

    /// The tensor map that a call begins with; if there is none, the help has blocks of `leading` by 64.
    pub(crate) fn map_of(
        &mut self,
        given: &Given<'_>,
        (val, loc): (&Val, Loc),
        leading: &str,
    ) -> Option<u32> {
        let (Val::Tensor(_) | Val::Slice(_), Some(param)) = (val, val.tensor()) else {
            let is_map = |val: &Val| {
                let param = val.tensor().map(|param| &self.params[param as usize]);
                param.is_some_and(|param| param.block.is_some())
            };
            let named = self.scopes.only_with(given.env, is_map).map(str::to_owned);
            let diagnostic = Code::Kind
                .at(loc, "a tensor map is required here")
                .compare("", "a `TensorMap` or `TensorMapMut`", self.describe(val))
                .why("a TMA copy moves one block of a tensor, whose map the launch encodes");
            let declared = format!("#[block({leading}, 64)] x: TensorMap<f16, 2>");
            return self.refuse(match named {
                Some(name) => diagnostic.help(name),
                None => diagnostic.help(declared).exemplified(),
            });
        };
        if self.params[param as usize].block.is_none() {
            let ParamKind::Tensor { dtype, rank, mutable } = self.params[param as usize].kind
            else {
                return None;
            };
            let name = self.params[param as usize].name.clone();
            let mut block = vec![leading.to_owned(); rank as usize];
            "64".clone_into(&mut block[rank as usize - 1]);
            // The block is what the shared memory of this copy holds.
            let copied = given.vals.iter().find_map(|val| {
                let Some(Type::Shared(shared)) = self.ty_of(val) else { return None };
                Some(&shared.shape)
            });
            if let Some(shape) = copied.filter(|shape| shape.len() <= block.len()) {
                let rows = block.len() - shape.len();
                for (axis, extent) in block.iter_mut().enumerate() {
                    *extent = match axis.checked_sub(rows) {
                        Some(axis) if leading != "1" || axis > 0 => shape[axis].to_string(),
                        Some(_) | None => "1".to_owned(),
                    };
                }
            }
            let block = block.join(", ");
            let (map, plain) =
                if mutable { ("TensorMapMut", "TensorMut") } else { ("TensorMap", "Tensor") };
            let place = self.params[param as usize].loc;
            return self.refuse(
                Code::Kind
                    .at(loc, format!("`{name}` is not a tensor map"))
                    .compare(
                        "",
                        format!("a `{map}<{}, {rank}>`", dtype.name()),
                        format!("a `{plain}<{}, {rank}>`", dtype.name()),
                    )
                    .place(place, "declared here")
                    .why(
                        "the launch encodes the tensor map and needs the block that one copy moves",
                    )
                    .help(format!("#[block({block})] {name}: {map}<{}, {rank}>", dtype.name())),
            );
        }
        Some(param)
    }

    /// The coordinates of a corner, one an axis of the tensor.
    pub(crate) fn corner(&mut self, param: u32, at: &Val, at_expr: &Expr) -> Option<Vec<Value>> {
        let rank = self.params[param as usize].kind.rank();
        let Val::Array(parts) = at else {
            return self.refuse(
                Code::Kind
                    .at(
                        at_expr.loc,
                        "the corner of a block is an array, one coordinate for each axis",
                    )
                    .compare("", "an array such as `[i, j]`", self.describe(at)),
            );
        };
        if parts.len() != rank as usize {
            let place = self.params[param as usize].loc;
            return self.refuse(
                Code::Axis
                    .at(
                        at_expr.loc,
                        "the corner of a block has one coordinate for each axis of its tensor",
                    )
                    .compare("coordinates", rank, parts.len())
                    .place(place, "declared here"),
            );
        }
        let mut corner = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let loc = at_expr.part(index);
            corner.push(self.scalar_i32(part, "the coordinates of a block are `i32`", loc)?);
        }
        Some(corner)
    }

    /// A tensor map that may be written.
    pub(crate) fn written_map(&mut self, param: u32, loc: Loc) -> Option<()> {
        let ParamKind::Tensor { dtype, rank, mutable } = self.params[param as usize].kind else {
            return None;
        };
        if mutable {
            return Some(());
        }
        let name = self.params[param as usize].name.clone();
        let place = self.params[param as usize].loc;
        self.refuse(
            Code::ReadOnly.at(loc, format!("a store to `{name}`, which is read-only"))
                .compare(
                    "",
                    format!("a `TensorMapMut<{}, {rank}>`", dtype.name()),
                    format!("a `TensorMap<{}, {rank}>`", dtype.name()),
                )
                .place(place, "declared here")
                .why("the launch borrows the tensor of a `TensorMap` with `&`: other kernels may read it at the same time")
                .help(format!("{name}: TensorMapMut<{}, {rank}>", dtype.name())),
        )
    }

    /// Whether a reduction takes an element type, or a report.
    pub(crate) fn reduces(
        &mut self,
        takes: &[Dtype],
        dtype: Dtype,
        given: &Given<'_>,
    ) -> Option<()> {
        if takes.contains(&dtype) {
            return Some(());
        }
        let names: Vec<&str> = takes.iter().map(|dtype| dtype.name()).collect();
        let what = format!("`{}`", given.path());
        self.refuse_dtype(&what, &names.join(", "), Num::Known(dtype), given.loc)
    }

    /// Starts a copy between a block of a tensor and a shared window, whose shapes agree.
    pub(crate) fn tma_copy(
        &mut self,
        tma: Tma,
        (corner, barrier): (Vec<Value>, Option<Value>),
        ((value, shared), window_loc): ((Value, &SharedType), Loc),
        loc: Loc,
    ) -> Option<()> {
        self.fills_block(tma.param, shared, window_loc)?;
        let dtype = self.params[tma.param as usize].kind.dtype();
        self.copied_dtype(dtype, (value, shared), window_loc)?;
        let operands = corner.into_iter().chain(barrier).chain([value]).collect();
        self.op(tma, operands, None, loc);
        Some(())
    }

    /// A copy converts nothing: memory has the elements of the tensor.
    pub(crate) fn copied_dtype(
        &mut self,
        dtype: Dtype,
        (window, shared): (Value, &SharedType),
        loc: Loc,
    ) -> Option<()> {
        let num = self.num(window);
        let Err((_, actual)) = self.cells.unify(Num::Known(dtype), num) else { return Some(()) };
        let data = &self.shared[shared.root];
        let help = format!("shared::<{}>({:?})", dtype.name(), data.shape);
        self.refuse(
            Code::DtypeMismatch
                .at(loc, "a copy has the same elements on both sides")
                .compare("element type", dtype.name(), actual)
                .place(data.loc, "allocated here")
                .why("a copy moves bytes as they are; a tile is converted in registers: `.load().cast::<..>()`")
                .help(help),
        )
    }

    /// The window of shared memory that a value is, if it is one.
    pub(crate) fn shared_window(&self, val: &Val) -> Option<(Value, SharedType)> {
        let value = val.value()?;
        let Type::Shared(shared) = self.ty(value) else { return None };
        Some((value, shared.clone()))
    }

    /// A window that a TMA copy reads or writes: of a ring, one tile or all of them; or a view, of which [`Builder::part_by_map`] takes some.
    pub(crate) fn copied_window(&mut self, window: &Val, loc: Loc) -> Option<(Value, SharedType)> {
        let Some((value, shared)) = self.shared_window(window) else {
            let unseen = if self.in_tensor_memory(window) { "tensor memory" } else { "registers" };
            let help = self.staged(window);
            return self.refuse(
                Code::CopyOperands
                    .at(loc, "a TMA copy goes to or from shared memory")
                    .compare("", "shared memory: `shared::<T>([M, N])`", self.describe(window))
                    .why(format!("TMA cannot access {unseen}; put the tile into shared memory"))
                    .help_if(help),
            );
        };
        self.own_window(&shared, "a TMA copy", loc)?;
        Some((value, shared))
    }

    /// A window that a copy of `copy_async` reads or writes by TMA: whole tiles.
    pub(crate) fn copied_tiles(&mut self, window: &Val, loc: Loc) -> Option<(Value, SharedType)> {
        let (value, shared) = self.copied_window(window, loc)?;
        self.whole_tiles(&shared, "a TMA copy of `copy_async`", loc)?;
        Some((value, shared))
    }

    /// One block of the map is one window, as it is in memory.
    pub(crate) fn fills_block(&mut self, param: u32, shared: &SharedType, loc: Loc) -> Option<()> {
        self.lies_as_stored(shared, loc)?;
        let wide = |shape: &[u32]| -> Vec<u32> {
            shape.iter().copied().filter(|extent| *extent != 1).collect()
        };
        let data = &self.params[param as usize];
        // The rows of padded numbers are those of the block.
        let padded = data.kind.dtype().row().packing.is_some();
        let fits = |block: &[u32]| {
            if padded { wide(block) == wide(&shared.shape) } else { merges(block, &shared.shape) }
        };
        let Some(block) = data.block.clone().filter(|block| !fits(block)) else {
            return Some(());
        };
        let place = data.loc;
        let diagnostic = Code::ShapeMismatch
            .at(loc, "a TMA copy moves one block")
            .compare("extents", format!("{block:?}"), format!("{:?}", shared.shape))
            .place(place, "the block of the tensor map")
            .why("the tensor map says at the launch how many elements one copy moves, and shared memory has a place for each");
        self.refuse(in_other_order(diagnostic, &block, &shared.shape))
    }

    /// A window that a TMA copy reads or writes is not transposed.
    pub(crate) fn lies_as_stored(&mut self, shared: &SharedType, loc: Loc) -> Option<()> {
        if !shared.transposed {
            return Some(());
        }
        self.refuse(
            Code::CopyOperands.at(loc, "a TMA copy does not transpose")
                .why("the innermost axis of the box is the innermost one in shared memory; transpose where the tile is read: `tile.t()`"),
        )
    }
}
