//! Tensor memory: allocation, windows, `load`, `store`.

use kernel_layout::Form;

use kernel_ptx::Capability;

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{
        Builder, Env,
        language::value::{Num, Val},
    },
    ir::{
        Const, Dtype, Op, TensorMemoryData, TensorMemoryOp, TensorMemoryRole, TensorMemoryType,
        Type, Value,
    },
    layouts::tensor_memory,
    loc::Loc,
    syntax::{Expr, Segment},
};

/// Every method of tensor memory, for suggestions.
const TENSOR_MEMORY_METHODS: &[&str] =
    &["load", "store", "tile", "view", "with_layout", "dim", "bytes"];
/// Why other targets have none of this.
const SINCE_BLACKWELL: &str = "tensor memory, and the products whose sums lie there, come with Blackwell's datacenter parts (PTX ISA, \"tcgen05\")";

impl Builder<'_> {
    /// Reports tensor memory, and what is done there, on another target than Blackwell.
    pub(crate) fn wants_blackwell(&mut self, what: &str, loc: Loc) -> Option<()> {
        self.wants(Capability::Tcgen05, what, SINCE_BLACKWELL, loc)
    }

    /// `tmem::<T>(shape)`
    pub(crate) fn tensor_memory_alloc(
        &mut self,
        segment: &Segment,
        shape: &Val,
        shape_expr: &Expr,
        env: Env,
        loc: Loc,
    ) -> Val {
        if self.wants_blackwell("`tmem`", loc).is_none() {
            return Val::Error;
        }
        if self.conditional > 0 {
            return self.report(
                Diagnostic::new(Code::SharedInLoop, loc, "tensor memory is allocated inside a loop or branch")
                    .why("the kernel allocates all of it once, before it begins, so that no block waits for columns that it has itself")
                    .help("let acc = tmem::<f32>([128, 128]); // before the loop"),
            );
        }
        let num = self.element_arg(segment, env);
        let Some(shape) = self.ring_shape(shape, shape_expr) else { return Val::Error };
        if !(2..=3).contains(&shape.len()) {
            return self.report(
                Diagnostic::new(
                    Code::Axis,
                    shape_expr.loc,
                    "a tile in tensor memory has rows and columns, and one axis more for several tiles",
                )
                .compare("rank", "2 or 3", shape.len().to_string()),
            );
        }
        let dtype = self.cells.settled(num);
        if dtype == Dtype::Bool || dtype.bytes() > 4 {
            return self.refuse_dtype("tensor memory", "numbers of 8, 16 and 32 bits", num, loc);
        }
        let data = TensorMemoryData {
            dtype,
            shape: shape.clone(),
            role: TensorMemoryRole::Values,
            of: None,
            pinned: None,
            loc,
        };
        let root = self.tensor_memory.alloc(data);
        if let Num::Cell(_) = self.cells.find(num) {
            self.tensor_memory_cells.insert(root, num);
        }
        let ty = Type::TensorMemory(TensorMemoryType { root, dtype, shape });
        Val::Value(self.emit(Op::TensorMemory(TensorMemoryOp::Alloc(root)), Vec::new(), ty, loc))
    }

    /// `accs[i]`
    pub(crate) fn tensor_memory_index(
        &mut self,
        window: Value,
        at: &Val,
        at_loc: Loc,
        loc: Loc,
    ) -> Val {
        let Type::TensorMemory(ty) = self.ty(window).clone() else { return Val::Error };
        if ty.shape.len() < 3 {
            return self.report(
                Diagnostic::new(
                    Code::TensorMemory,
                    loc,
                    "the elements of tensor memory are written and read as tiles",
                )
                .compare("extents", "[TILES, ROWS, COLS]", format!("{:?}", ty.shape))
                .why("an index chooses one of several tiles; which thread holds an element is the compiler's choice")
                .help(self.applied(window, ".load()")),
            );
        }
        let headline = "one of several tiles is chosen by an `i32`";
        let Some(index) = self.scalar_i32(at, headline, at_loc) else { return Val::Error };
        if let Val::Const(Const::Int(at), _) = at
            && !(0..i128::from(ty.shape[0])).contains(at)
        {
            return self.report(
                Diagnostic::new(Code::Overflow, at_loc, "an index past the end of the tiles")
                    .compare("index", format!("0 to {}", ty.shape[0] - 1), at.to_string()),
            );
        }
        self.note_use(index, loc, at_loc);
        let mut inner = ty;
        inner.shape.remove(0);
        let op = Op::TensorMemory(TensorMemoryOp::Index);
        Val::Value(self.emit(op, vec![window, index], Type::TensorMemory(inner), loc))
    }

    /// A method of tensor memory.
    pub(crate) fn tensor_memory_method(
        &mut self,
        window: Value,
        name: &Segment,
        vals: &[Val],
        args: &[Expr],
        env: Env,
        loc: Loc,
    ) -> Val {
        let Type::TensorMemory(ty) = self.ty(window).clone() else { return Val::Error };
        let loc_of = |index: usize| args.get(index).map_or(loc, |arg| arg.loc);
        match (name.name.as_str(), vals) {
            ("load", []) => {
                if self.one_tile(window, &ty, loc).is_none() || self.whole_quarters(loc).is_none() {
                    return Val::Error;
                }
                let num = self.num(window);
                if self.check_budget(&ty.shape, num, loc).is_none() {
                    return Val::Error;
                }
                let op = Op::TensorMemory(TensorMemoryOp::Load);
                Val::Value(self.emit_num(op, vec![window], Some(ty.shape), num, loc))
            }
            ("store", [value]) => self.tensor_memory_store(window, (value, loc_of(0)), loc),
            ("tile", [at, shape]) => {
                let Some((at_expr, shape_expr)) = args.first().zip(args.get(1)) else {
                    return Val::Error;
                };
                self.tensor_memory_tile(window, (at, at_expr), (shape, shape_expr), loc)
            }
            ("view", [shape]) => match args {
                [shape_expr] => self.tensor_memory_view(window, name, shape, shape_expr, env, loc),
                _ => Val::Error,
            },
            ("with_layout", [Val::Layout(form)]) => {
                self.tensor_memory_layout(window, form.clone(), loc_of(0))
            }
            ("with_layout", [other]) => {
                let actual = self.describe(other);
                self.report(
                    Diagnostic::new(Code::Kind, loc_of(0), "`with_layout` takes a layout")
                        .compare("", "a layout", actual)
                        .help(".with_layout(tmem_block([128, 128], 1))"),
                )
            }
            ("dim", [axis]) => {
                let Some(axis) = self.axis(axis, ty.shape.len(), "the window", loc_of(0)) else {
                    return Val::Error;
                };
                let extent = i128::from(ty.shape[axis as usize]);
                Val::Const(Const::Int(extent), Num::Known(Dtype::I32))
            }
            ("bytes", []) => {
                let elements: i128 = ty.shape.iter().map(|extent| i128::from(*extent)).product();
                let bytes = elements * i128::from(self.cells.settled(self.num(window)).bytes());
                Val::Const(Const::Int(bytes), Num::Known(Dtype::I32))
            }
            (known, _) if TENSOR_MEMORY_METHODS.contains(&known) => {
                let (required, form) = match known {
                    "with_layout" => {
                        (1, Some(".with_layout(tmem_block([128, 128], 1))".to_owned()))
                    }
                    "store" => (1, None),
                    "tile" => (2, Some(".tile([0, 0], [128, 64])".to_owned())),
                    "view" => (1, Some(".view::<bf16>([128, 64])".to_owned())),
                    "dim" => (1, Some(".dim(0)".to_owned())),
                    _ => (0, Some(format!(".{known}()"))),
                };
                self.count(name, required, vals.len(), form, loc)
            }
            _ => self.no_method(&Val::Value(window), name, vals, TENSOR_MEMORY_METHODS),
        }
    }

    fn tensor_memory_store(&mut self, window: Value, (val, val_loc): (&Val, Loc), loc: Loc) -> Val {
        let Type::TensorMemory(ty) = self.ty(window).clone() else { return Val::Error };
        if self.one_tile(window, &ty, loc).is_none() || self.whole_quarters(loc).is_none() {
            return Val::Error;
        }
        let Some(tile) = self.value(val, val_loc) else { return Val::Error };
        let value = if let Val::Const(..) = val { val } else { &Val::Value(tile) };
        let fits = self.cells.unify(self.num(tile), self.num(window)).is_ok();
        let dtype = self.cells.settled(self.num(window));
        if self.tile_to_store(value, dtype, &ty.shape, val_loc).is_none() || !fits {
            return Val::Error;
        }
        self.op(Op::TensorMemory(TensorMemoryOp::Store), vec![window, tile], None, loc);
        Val::Unit
    }

    /// `acc.tile([row, column], [rows, columns])`
    fn tensor_memory_tile(
        &mut self,
        window: Value,
        (at, at_expr): (&Val, &Expr),
        (shape, shape_expr): (&Val, &Expr),
        loc: Loc,
    ) -> Val {
        let Type::TensorMemory(mut ty) = self.ty(window).clone() else { return Val::Error };
        let (Some(()), Some(shape)) =
            (self.one_tile(window, &ty, loc), self.shape(shape, shape_expr))
        else {
            return Val::Error;
        };
        let starts = at.parts().unwrap_or(&[]).to_vec();
        for (count, expr) in [(starts.len(), at_expr), (shape.len(), shape_expr)] {
            if count != 2 {
                return self.report(
                    Diagnostic::new(Code::Axis, expr.loc, "a part of a tile has rows and columns")
                        .compare("entries", "2", count.to_string())
                        .help("acc.tile([0, 0], [128, 64])"),
                );
            }
        }
        let mut place = [0; 2];
        for (axis, start) in starts.iter().enumerate() {
            let at = at_expr.part(axis);
            let Some(start) = self.const_int(start, "where a part of tensor memory begins", at)
            else {
                return Val::Error;
            };
            let (extent, whole) = (shape[axis], ty.shape[axis]);
            let begins = u32::try_from(start)
                .ok()
                .filter(|start| start.checked_add(extent).is_some_and(|end| end <= whole));
            let Some(begins) = begins else {
                let end = start.saturating_add(extent.into());
                return self.report(
                    Diagnostic::new(Code::Overflow, at, "a part of a tile ends outside of it")
                        .compare(
                            format!("axis {axis}"),
                            format!("0 to {whole}"),
                            format!("{start} to {end}"),
                        ),
                );
            };
            if begins % extent != 0 {
                let below = begins - begins % extent;
                return self.report(
                    Diagnostic::new(
                        Code::TensorMemory,
                        at,
                        "a part of a tile begins at a multiple of its extent",
                    )
                    .compare("start", format!("a multiple of {extent}"), begins.to_string())
                    .why("how a part lies in tensor memory is the same wherever it begins")
                    .help(below.to_string()),
                );
            }
            place[axis] = begins;
        }
        ty.shape = shape;
        self.operands.insert(loc, [shape_expr.loc, at_expr.loc, loc]);
        let op = Op::TensorMemory(TensorMemoryOp::Tile(place));
        Val::Value(self.emit(op, vec![window], Type::TensorMemory(ty), loc))
    }

    /// `acc.view::<U>([rows, columns])`
    fn tensor_memory_view(
        &mut self,
        window: Value,
        name: &Segment,
        shape: &Val,
        shape_expr: &Expr,
        env: Env,
        loc: Loc,
    ) -> Val {
        let Type::TensorMemory(ty) = self.ty(window).clone() else { return Val::Error };
        let num = self.element_arg(name, env);
        let (Some(()), Some(shape)) =
            (self.one_tile(window, &ty, loc), self.shape(shape, shape_expr))
        else {
            return Val::Error;
        };
        if shape.len() != 2 {
            return self.report(
                Diagnostic::new(
                    Code::Axis,
                    shape_expr.loc,
                    "a view of a tile has rows and columns",
                )
                .compare("rank", "2", shape.len().to_string()),
            );
        }
        let dtype = self.cells.settled(num);
        if dtype == Dtype::Bool || dtype.bytes() > 4 {
            return self.refuse_dtype("tensor memory", "numbers of 8, 16 and 32 bits", num, loc);
        }
        let of = self.tensor_memory[ty.root].of.unwrap_or(ty.root);
        let data = TensorMemoryData {
            dtype,
            shape: shape.clone(),
            role: TensorMemoryRole::Values,
            of: Some(of),
            pinned: None,
            loc,
        };
        let root = self.tensor_memory.alloc(data);
        if let Num::Cell(_) = self.cells.find(num) {
            self.tensor_memory_cells.insert(root, num);
        }
        let ty = Type::TensorMemory(TensorMemoryType { root, dtype, shape });
        self.operands.insert(loc, [shape_expr.loc, loc, loc]);
        let op = Op::TensorMemory(TensorMemoryOp::View(root));
        Val::Value(self.emit(op, vec![window], ty, loc))
    }

    /// Reports a window of several tiles where one is wanted.
    pub(crate) fn one_tile(
        &mut self,
        window: Value,
        ty: &TensorMemoryType,
        loc: Loc,
    ) -> Option<()> {
        if ty.shape.len() == 2 {
            return Some(());
        }
        let help = self.applied(window, "[0]");
        self.report(
            Diagnostic::new(Code::TensorMemory, loc, "one of several tiles is used at a time")
                .compare("rank", "2", ty.shape.len().to_string())
                .help(help),
        );
        None
    }

    /// Reports a partition whose warps do not reach all rows of tensor memory.
    fn whole_quarters(&mut self, loc: Loc) -> Option<()> {
        if self.warps.is_multiple_of(tensor_memory::QUARTERS) {
            return Some(());
        }
        let help = self.warps_written(u64::from(tensor_memory::QUARTERS));
        self.report(
            Diagnostic::new(Code::Warps, loc, "tensor memory is read and written by whole warpgroups")
                .compare("warps", "a multiple of 4", self.warps.to_string())
                .why("each warp reaches a quarter of the 128 rows: that of its number within its warpgroup (PTX ISA, \"tcgen05: Access restrictions\")")
                .help(help),
        );
        None
    }

    /// `acc.with_layout(form)`
    fn tensor_memory_layout(&mut self, window: Value, form: Form, loc: Loc) -> Val {
        let Type::TensorMemory(ty) = self.ty(window).clone() else { return Val::Error };
        let data = &self.tensor_memory[ty.root];
        let tile = data.shape[data.shape.len() - 2..].to_vec();
        let made_at = data.loc;
        if !ty.shape.ends_with(&tile) {
            return self.report(
                Diagnostic::new(Code::TensorMemory, loc, "a part of a tile has the layout of the tile")
                    .compare("extents", format!("{tile:?}"), format!("{:?}", ty.shape))
                    .place(made_at, "the tile")
                    .why("where the elements of a part lie follows from where those of the whole tile do"),
            );
        }
        let element_bytes = self.cells.settled(self.num(window)).bytes();
        if let Err(problem) = tensor_memory::pinned(&form, loc, tile.clone(), element_bytes) {
            return self.report(problem.into_diagnostic());
        }
        let pinned = self.tensor_memory[ty.root].pinned.clone();
        if let Some(pinned) =
            pinned.filter(|pinned| pinned.to_layout(&tile) != form.to_layout(&tile))
        {
            let chosen_at = self.tensor_memory_pins.get(ty.root).copied().unwrap_or(made_at);
            return self.report(
                Diagnostic::new(Code::TensorMemory, loc, "this allocation has another layout already")
                    .compare("", pinned.in_code(), form.in_code())
                    .place(chosen_at, "layout chosen here")
                    .why("what is written in one layout and read in another would be other elements; `.view::<T>([..])` names the columns anew")
                    .help(pinned.in_code()),
            );
        }
        self.tensor_memory[ty.root].pinned = Some(form);
        self.tensor_memory_pins.insert(ty.root, loc);
        Val::Value(window)
    }
}
