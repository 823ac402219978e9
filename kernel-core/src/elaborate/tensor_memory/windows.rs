//! Tensor memory: allocation, windows, `load`, `store`.

use crate::{
    diag::Code,
    elaborate::{
        Builder,
        language::value::{Num, Val},
        signatures::Given,
    },
    ir::{
        Dtype, Op, TensorMemory, TensorMemoryData, TensorMemoryOp, TensorMemoryRole,
        TensorMemoryType, Type, Value,
    },
    layouts::tensor_memory,
    loc::Loc,
    syntax::{Expr, ExprKind},
};

impl Builder<'_> {
    /// `tmem::<T>(shape)`
    pub(crate) fn tensor_memory_alloc(&mut self, given: &Given<'_>) -> Option<Val> {
        self.made_once(
            "tensor memory is allocated inside a loop or branch",
            "the kernel allocates all of it once, at its start, so no block waits for columns that it holds itself",
            "let acc = tmem::<f32>([128, 128]);",
            given.loc,
        )?;
        let shape = given.shape(0);
        if !(2..=3).contains(&shape.len()) {
            let headline =
                "a tile in tensor memory has rows and columns, and one axis more for several tiles";
            return self.refuse(Code::Axis.at(given.at(0), headline).compare(
                "rank",
                "2 or 3",
                shape.len(),
            ));
        }
        let (root, ty) = self.tensor_memory_of(given, None)?;
        let op = Op::TensorMemory(TensorMemoryOp::Alloc(root));
        Some(Val::Value(self.emit(op, Vec::new(), ty, given.loc)))
    }

    /// A tile in tensor memory of the element type and the extents of a call, allocated or, `of` another one, a view.
    fn tensor_memory_of(
        &mut self,
        given: &Given<'_>,
        of: Option<TensorMemory>,
    ) -> Option<(TensorMemory, Type)> {
        let (num, shape) = (self.element_arg(given.name, given.env)?, given.shape(0));
        let dtype = self.cells.settled(num);
        if dtype == Dtype::Bool || dtype.bytes() > 4 {
            return self.refuse_dtype(
                "tensor memory",
                "numbers of 8, 16 and 32 bits",
                num,
                given.loc,
            );
        }
        let role = TensorMemoryRole::Values;
        let (pinned, name, loc) = (None, None, given.loc);
        let data = TensorMemoryData { dtype, shape: shape.clone(), role, of, pinned, name, loc };
        let root = self.tensor_memory.alloc(data);
        if let Num::Cell(_) = self.cells.find(num) {
            self.tensor_memory_cells.insert(root, num);
        }
        Some((root, Type::TensorMemory(TensorMemoryType { root, dtype, shape })))
    }

    /// `accs[i]`
    pub(crate) fn tensor_memory_index(
        &mut self,
        window: Value,
        at: (&Val, Loc),
        loc: Loc,
    ) -> Option<Val> {
        let Type::TensorMemory(mut ty) = self.ty(window).clone() else { return None };
        if ty.shape.len() < 3 {
            return self.refuse(
                Code::TensorMemory.at(loc, "tensor memory is read and written as tiles")
                    .compare("extents", "[TILES, ROWS, COLS]", format!("{:?}", ty.shape))
                    .why("an index chooses one of several tiles; the compiler chooses which thread holds an element")
                    .help(self.applied(window, ".load()")),
            );
        }
        let words = ("the index of a tile is an `i32`", "an index past the end of the tiles");
        let index = self.chosen(at, ty.shape.remove(0), words)?;
        self.note_use(index, loc, at.1);
        let op = Op::TensorMemory(TensorMemoryOp::Index);
        Some(Val::Value(self.emit(op, vec![window, index], Type::TensorMemory(ty), loc)))
    }

    /// `acc.load()`
    pub(crate) fn tensor_memory_load(&mut self, given: &Given<'_>) -> Option<Val> {
        let (window, loc) = (given.receiver(), given.loc);
        let ty = self.one_tile(window, loc)?;
        self.whole_quarters(loc)?;
        let num = self.num(window);
        self.check_budget(&ty.shape, num, loc)?;
        let op = Op::TensorMemory(TensorMemoryOp::Load);
        Some(Val::Value(self.emit_num(op, vec![window], Some(ty.shape), num, loc)))
    }

    /// `acc.store(value)`
    pub(crate) fn tensor_memory_store(&mut self, given: &Given<'_>) -> Option<()> {
        let (window, (val, val_loc)) = (given.receiver(), given.arg(0));
        let ty = self.one_tile(window, given.loc)?;
        self.whole_quarters(given.loc)?;
        let tile = self.value(val, val_loc)?;
        let value = if let Val::Const(..) = val { val } else { &Val::Value(tile) };
        let fits = self.cells.unify(self.num(tile), self.num(window)).is_ok();
        let dtype = self.cells.settled(self.num(window));
        self.tile_to_store(value, dtype, &ty.shape, val_loc)?;
        fits.then(|| self.does(Op::TensorMemory(TensorMemoryOp::Store), vec![window, tile], given))?
    }

    /// `acc.tile(at, shape)`
    pub(crate) fn tensor_memory_tile(&mut self, given: &Given<'_>) -> Option<Val> {
        let (window, loc) = (given.receiver(), given.loc);
        let mut ty = self.one_tile(window, loc)?;
        let (at_expr, shape) = (&given.args[0], given.shape(1));
        let starts = given.val(0).parts().unwrap_or(&[]);
        for (count, at) in [(starts.len(), given.at(0)), (shape.len(), given.at(1))] {
            if count != 2 {
                // The first two entries, and what is there of those that lack.
                let place = if at == given.at(0) {
                    "[0, 0]".to_owned()
                } else {
                    format!("{:?}", &ty.shape)
                };
                let written = &given.args[usize::from(at != given.at(0))];
                let first = if let ExprKind::Array(parts) = &written.kind {
                    parts.get(..2).and_then(|two| two.iter().map(Expr::text).collect())
                } else {
                    None
                };
                let help = first.map(|two: Vec<String>| format!("[{}]", two.join(", ")));
                return self.refuse(
                    Code::Axis
                        .at(at, "a part of a tile has rows and columns")
                        .compare("entries", "2", count)
                        .why("a tile in tensor memory has two axes; a buffer of a ring is chosen by an index, `acc[i]`")
                        .help(help.unwrap_or(place)),
                );
            }
        }
        let mut place = [0; 2];
        for (axis, start) in starts.iter().enumerate() {
            let at = at_expr.part(axis);
            let start = self.const_int(start, "where a part of tensor memory begins", at)?;
            let (extent, whole) = (shape[axis], ty.shape[axis]);
            let begins = u32::try_from(start)
                .ok()
                .filter(|start| start.checked_add(extent).is_some_and(|end| end <= whole));
            let Some(begins) = begins else {
                let end = start.saturating_add(extent.into());
                let (required, actual) = (format!("0 to {whole}"), format!("{start} to {end}"));
                return self.refuse(
                    Code::Overflow.at(at, "a part of a tile ends outside of it").compare(
                        format!("axis {axis}"),
                        required,
                        actual,
                    ),
                );
            };
            if begins % extent != 0 {
                let below = begins - begins % extent;
                return self.refuse(
                    Code::TensorMemory
                        .at(at, "a part of a tile begins at a multiple of its extent")
                        .compare("start", format!("a multiple of {extent}"), begins)
                        .why("a part has the same layout in tensor memory wherever it begins")
                        .help(below.to_string()),
                );
            }
            place[axis] = begins;
        }
        ty.shape = shape;
        self.operands.insert(loc, [given.at(1), given.at(0), loc]);
        let op = Op::TensorMemory(TensorMemoryOp::Tile(place));
        Some(Val::Value(self.emit(op, vec![window], Type::TensorMemory(ty), loc)))
    }

    /// `acc.view::<U>(shape)`
    pub(crate) fn tensor_memory_view(&mut self, given: &Given<'_>) -> Option<Val> {
        let (window, loc) = (given.receiver(), given.loc);
        let of = self.one_tile(window, loc)?.root;
        let rank = given.shape(0).len();
        if rank != 2 {
            return self.refuse(
                Code::Axis
                    .at(given.at(0), "a view of a tile has rows and columns")
                    .compare("rank", "2", rank),
            );
        }
        let of = self.tensor_memory[of].of.unwrap_or(of);
        let (root, ty) = self.tensor_memory_of(given, Some(of))?;
        self.operands.insert(loc, [given.at(0), loc, loc]);
        let op = Op::TensorMemory(TensorMemoryOp::View(root));
        Some(Val::Value(self.emit(op, vec![window], ty, loc)))
    }

    /// A window that is one tile, or a report.
    pub(crate) fn one_tile(&mut self, window: Value, loc: Loc) -> Option<TensorMemoryType> {
        let Type::TensorMemory(ty) = self.ty(window).clone() else { return None };
        if ty.shape.len() == 2 {
            return Some(ty);
        }
        let help = self.applied(window, "[0]");
        self.refuse(
            Code::TensorMemory
                .at(loc, "one of several tiles is used at a time")
                .compare("rank", "2", ty.shape.len())
                .help(help),
        )
    }

    /// Reports a partition whose warps do not reach all rows of tensor memory.
    fn whole_quarters(&mut self, loc: Loc) -> Option<()> {
        if self.warps.is_multiple_of(tensor_memory::QUARTERS) {
            return Some(());
        }
        let help = self.warps_written(u64::from(tensor_memory::QUARTERS));
        self.refuse(
            Code::Warps.at(loc, "tensor memory is read and written by whole warpgroups")
                .compare("warps", "a multiple of 4", self.warps)
                .why("each warp reaches one quarter of the 128 rows, given by its number within its warpgroup (PTX ISA, \"tcgen05: Access restrictions\")")
                .help(help),
        )
    }

    /// `acc.with_layout(form)`
    pub(crate) fn tensor_memory_layout(&mut self, given: &Given<'_>) -> Option<Val> {
        let (window, form, loc) = (given.receiver(), given.layout(0), given.at(0));
        let Type::TensorMemory(ty) = self.ty(window).clone() else { return None };
        let data = &self.tensor_memory[ty.root];
        let tile = data.shape[data.shape.len() - 2..].to_vec();
        let made_at = data.loc;
        if !ty.shape.ends_with(&tile) {
            return self.refuse(
                Code::TensorMemory
                    .at(loc, "a part of a tile has the layout of the tile")
                    .compare("extents", format!("{tile:?}"), format!("{:?}", ty.shape))
                    .place(made_at, "the tile")
                    .why("the layout of the whole tile also gives that of a part"),
            );
        }
        let element_bytes = self.cells.settled(self.num(window)).bytes();
        if let Err(problem) = tensor_memory::pinned(&form, loc, tile.clone(), element_bytes) {
            return self.refuse(problem.into_diagnostic());
        }
        let pinned = self.tensor_memory[ty.root].pinned.clone();
        let chosen_at = self.tensor_memory_pins.get(ty.root).copied().unwrap_or(made_at);
        let why = "bytes written in one layout and read in another would be different elements; `.view::<T>([..])` reinterprets the columns";
        self.keeps_layout((pinned, chosen_at), (&form, &tile), (Code::TensorMemory, why), loc)?;
        self.tensor_memory[ty.root].pinned = Some(form);
        self.tensor_memory_pins.insert(ty.root, loc);
        Some(Val::Value(window))
    }
}
