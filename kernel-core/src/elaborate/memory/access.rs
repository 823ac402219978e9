//! Memory: windows of tensors, pointers, shared memory, copies, atomics.

use std::rc::Rc;

use kernel_layout::Form;

use kernel_ptx::Capability;

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{
        Builder, Env,
        language::{
            generic::Destination,
            value::{Num, Part, Val, ViewVal},
        },
    },
    ir::{
        Atomic, Const, Dtype, Elem, Op, ParamKind, Shared, SharedData, SharedType, Tma, TmaKind,
        Type, Value,
    },
    layouts::pinned_shared,
    loc::Loc,
    syntax::{Expr, Segment},
};

/// An argument, and where it stands.
type Arg<'v> = (&'v Val, Loc);

impl Builder<'_> {
    /// `tensor.tile(at, shape)`
    pub(crate) fn window(
        &mut self,
        param: u32,
        at: &Val,
        shape: &Val,
        [at_expr, shape_expr]: [&Expr; 2],
    ) -> Val {
        let (at_loc, shape_loc) = (at_expr.loc, shape_expr.loc);
        let ParamKind::Tensor { rank, .. } = self.params[param as usize].kind else {
            return Val::Error;
        };
        let Some(shape) = self.shape(shape, shape_expr) else { return Val::Error };
        let parts = match at {
            Val::Array(parts) => parts.to_vec(),
            other => {
                let actual = self.describe(other);
                return self.report(
                    Diagnostic::new(
                        Code::Kind,
                        at_loc,
                        "the corner of a window is an array, one coordinate an axis",
                    )
                    .compare("", "an array such as `[i, j]`", actual),
                );
            }
        };
        for (what, have, loc) in
            [("coordinates", parts.len(), at_loc), ("extents", shape.len(), shape_loc)]
        {
            if have != rank as usize {
                let place = self.params[param as usize].loc;
                return self.report(
                    Diagnostic::new(
                        Code::Axis,
                        loc,
                        "a window has one coordinate and one extent for each axis of its tensor",
                    )
                    .compare(what, rank.to_string(), have.to_string())
                    .place(place, "the tensor"),
                );
            }
        }
        let (mut corner, mut places) = (Vec::new(), Vec::new());
        for (index, part) in parts.iter().enumerate() {
            let loc = at_expr.part(index);
            let Some(value) = self.value(part, loc) else { return Val::Error };
            if self.wants_scalar(value, "the coordinates of a window are scalars", loc).is_none() {
                return Val::Error;
            }
            if !self.is_scalar(value)
                || self.cells.unify(self.num(value), Num::Known(Dtype::I32)).is_err()
                || self.is_ptr(value)
            {
                let actual = self.describe(part);
                return self.report(
                    Diagnostic::new(Code::Kind, loc, "the coordinates of a window are `i32`")
                        .compare("", "a scalar (i32)", actual)
                        .help("n as i32"),
                );
            }
            corner.push(Val::Value(value));
            places.push(loc);
        }
        Val::View(Rc::new(ViewVal { param, at: corner, places, shape, part: Part::Tile }))
    }

    /// `view.load()`
    pub(crate) fn load_tensor(&mut self, view: &ViewVal, loc: Loc) -> Val {
        let ParamKind::Tensor { dtype, .. } = self.params[view.param as usize].kind else {
            return Val::Error;
        };
        let Some(corner) = view.corner() else { return Val::Error };
        self.note_corner(view, loc);
        if self.check_budget(&view.shape, Num::Known(dtype), loc).is_none() {
            return Val::Error;
        }
        let ty = Type::Tile(Elem::Number(dtype), view.shape.clone());
        let tile = self.emit(Op::LoadTensor(view.param), corner, ty, loc);
        self.mark_of_param(view.param, tile);
        Val::Value(tile)
    }

    /// `view.store(tile)`
    pub(crate) fn store_tensor(
        &mut self,
        view: &ViewVal,
        value: &Val,
        value_loc: Loc,
        loc: Loc,
    ) -> Val {
        let ParamKind::Tensor { dtype, mutable, rank } = self.params[view.param as usize].kind
        else {
            return Val::Error;
        };
        if !mutable {
            let (name, place) = {
                let param = &self.params[view.param as usize];
                (param.name.clone(), param.loc)
            };
            return self.report(
                Diagnostic::new(Code::ReadOnly, loc, format!("a store to `{name}`, which is only read"))
                    .compare("", format!("a `TensorMut<{}, {rank}>`", dtype.name()), format!("a `Tensor<{}, {rank}>`", dtype.name()))
                    .place(place, "declared here")
                    .why("the launch borrows a `Tensor` with `&`: other kernels may read it at the same time")
                    .help(format!("{name}: TensorMut<{}, {rank}>", dtype.name())),
            );
        }
        let headline = "the tile does not have the element type of its destination";
        if let Val::Value(tile) = self.plain(value.clone())
            && self.stores_literal(Destination::Param(view.param), tile, headline, value_loc)
        {
            return Val::Error;
        }
        let Some(tile) = self.tile_to_store(value, dtype, &view.shape, value_loc) else {
            return Val::Error;
        };
        let Some(mut args) = view.corner() else { return Val::Error };
        self.note_corner(view, loc);
        args.push(tile);
        self.op(Op::StoreTensor(view.param), args, None, loc);
        Val::Unit
    }

    /// A tile with the element type and extents of what it is stored to.
    pub(crate) fn tile_to_store(
        &mut self,
        value: &Val,
        dtype: Dtype,
        shape: &[u32],
        loc: Loc,
    ) -> Option<Value> {
        let tile = self.value(value, loc)?;
        let tile = match self.ty(tile) {
            Type::Scalar(Elem::Number(_)) if self.is_point(tile) => {
                let actual = self.describe(value);
                let help = if shape == [1] {
                    ".expand(0)".to_owned()
                } else {
                    format!(".broadcast({shape:?})")
                };
                self.report(
                    Diagnostic::new(
                        Code::ShapeMismatch,
                        loc,
                        "the tile does not have the extents of its destination",
                    )
                    .compare("", format!("a `Tile<{}>` of extents {shape:?}", dtype.name()), actual)
                    .why("a store writes each element of its destination once")
                    .help(help),
                );
                return None;
            }
            Type::Scalar(Elem::Number(_)) => {
                let actual = self.describe(value);
                self.report(
                    Diagnostic::new(Code::Kind, loc, "a tile is stored, not a scalar")
                        .compare(
                            "",
                            format!("a `Tile<{}>` of extents {shape:?}", dtype.name()),
                            actual,
                        )
                        .help(self.full_of(shape, value, dtype)),
                );
                return None;
            }
            _ => self.tile(value, "a store", loc)?,
        };
        if self.ty(tile).shape() != shape {
            let actual = self.ty(tile).shape().to_vec();
            self.report(
                Diagnostic::new(
                    Code::ShapeMismatch,
                    loc,
                    "the tile does not have the extents of its destination",
                )
                .compare("", format!("{shape:?}"), format!("{actual:?}"))
                .why("a store writes each element of its destination once"),
            );
            return None;
        }
        if self.is_ptr(tile) || self.cells.unify(self.num(tile), Num::Known(dtype)).is_err() {
            let num = self.num(tile);
            let diagnostic = Diagnostic::new(
                Code::DtypeMismatch,
                loc,
                "the tile does not have the element type of its destination",
            )
            .compare("", dtype.name(), self.cells.name(num));
            self.report(self.cast_help(diagnostic, dtype, num));
            return None;
        }
        Some(tile)
    }

    // ------------------------------------------------------------------------------------- pointers

    pub(crate) fn address(&mut self, (val, loc): Arg<'_>) -> Option<Value> {
        let value = self.value(val, loc)?;
        if self.is_ptr(value) {
            return Some(value);
        }
        let actual = self.describe(val);
        self.report(
            Diagnostic::new(Code::Kind, loc, "an address is wanted here")
                .compare("", "a `Ptr<T>` or a `Tile<Ptr<T>>`", actual)
                .help("p + offsets"),
        );
        None
    }

    /// `load(at)`, `load_masked(at, mask, other)`
    pub(crate) fn load_ptr(&mut self, at: Arg<'_>, masked: Option<[Arg<'_>; 2]>, loc: Loc) -> Val {
        let Some(at) = self.address(at) else { return Val::Error };
        let Some(Elem::Ptr(dtype)) = self.ty(at).elem() else { return Val::Error };
        let ty = self.ty(at).with_elem(Elem::Number(dtype));
        let mut args = vec![at];
        if let Some([mask, (other, place)]) = masked {
            let (Some(mask), Some(other)) = (self.mask(mask, at), self.value(other, place)) else {
                return Val::Error;
            };
            let instead = "what `load_masked` gives elsewhere is a scalar";
            if !self.is_scalar(other) && !matches!(self.ty(other), Type::Error) {
                let actual = self.describe(&Val::Value(other));
                let diagnostic = Diagnostic::new(Code::Kind, place, instead);
                return self.report(
                    diagnostic
                        .compare("", format!("a scalar ({})", dtype.name()), actual)
                        .help(self.whole_number("0", Num::Known(dtype))),
                );
            }
            if self.wants_scalar(other, instead, place).is_none()
                || self.wants_element(other, dtype, place).is_none()
            {
                return Val::Error;
            }
            let Some((_, other)) = self.same_shape(at, other, "`load_masked`", loc) else {
                return Val::Error;
            };
            args.extend([mask, other]);
        }
        Val::Value(self.emit(Op::LoadPtr { masked: masked.is_some() }, args, ty, loc))
    }

    /// A mask with the extents of the addresses.
    fn mask(&mut self, (mask, loc): Arg<'_>, at: Value) -> Option<Value> {
        let mask = self.value(mask, loc)?;
        if self.cells.known(self.num(mask)) != Some(Dtype::Bool) || self.is_ptr(mask) {
            let num = self.num(mask);
            self.refuse_dtype("a mask", "`bool`", num, loc);
            return None;
        }
        if self.is_scalar(at) {
            self.wants_scalar(mask, "the mask of one address is one scalar", loc)?;
        } else {
            self.wants_tile(
                mask,
                at,
                "a tile of addresses takes a tile of `bool` as its mask",
                loc,
            )?;
        }
        let (grown, mask) = self.same_shape(at, mask, "a masked access", loc)?;
        if self.ty(grown).shape() != self.ty(at).shape() {
            let (required, actual) = (self.ty(at).shape().to_vec(), self.ty(mask).shape().to_vec());
            self.report(
                Diagnostic::new(Code::ShapeMismatch, loc, "the mask is larger than the addresses")
                    .compare("", format!("{required:?}"), format!("{actual:?}")),
            );
            return None;
        }
        Some(mask)
    }

    /// `store(at, value)`, `store_masked(at, mask, value)`
    pub(crate) fn store_ptr(
        &mut self,
        at: Arg<'_>,
        mask: Option<Arg<'_>>,
        value: Arg<'_>,
        loc: Loc,
    ) -> Val {
        let Some(at) = self.address(at) else { return Val::Error };
        let Some((at, value)) = self.stored_value(at, value, "a store") else {
            return Val::Error;
        };
        let mut args = vec![at, value];
        if let Some(mask) = mask {
            let Some(mask) = self.mask(mask, at) else { return Val::Error };
            args.push(mask);
        }
        self.note_write(at);
        self.op(Op::StorePtr { masked: mask.is_some() }, args, None, loc);
        Val::Unit
    }

    /// A value with the element type and shape of addresses.
    fn stored_value(
        &mut self,
        at: Value,
        (value, loc): Arg<'_>,
        what: &str,
    ) -> Option<(Value, Value)> {
        let Some(Elem::Ptr(dtype)) = self.ty(at).elem() else { return None };
        let value = self.value(value, loc)?;
        if self.is_ptr(value) {
            self.error(Code::DtypeRefused, loc, "addresses are not stored");
            return None;
        }
        let headline = "the value does not have the element type of its address";
        if self.stores_literal(Destination::Address(at), value, headline, loc) {
            return None;
        }
        self.wants_element(value, dtype, loc)?;
        if self.is_scalar(at) {
            self.wants_scalar(value, "one address takes one scalar", loc)?;
        } else {
            self.wants_tile(value, at, "a tile of addresses takes a tile of values", loc)?;
        }
        let (grown, value) = self.same_shape(at, value, what, loc)?;
        if self.ty(grown).shape() != self.ty(at).shape() {
            let (required, actual) =
                (self.ty(at).shape().to_vec(), self.ty(value).shape().to_vec());
            self.report(
                Diagnostic::new(Code::ShapeMismatch, loc, "the value is larger than the addresses")
                    .compare("", format!("{required:?}"), format!("{actual:?}")),
            );
            return None;
        }
        Some((at, value))
    }

    /// Brings a value to the element type of the addresses it goes to, or reports.
    fn wants_element(&mut self, value: Value, dtype: Dtype, loc: Loc) -> Option<()> {
        let num = self.num(value);
        if !self.is_ptr(value) && self.cells.unify(num, Num::Known(dtype)).is_ok() {
            return Some(());
        }
        let headline = "the value does not have the element type of its address";
        let diagnostic = Diagnostic::new(Code::DtypeMismatch, loc, headline);
        let diagnostic = diagnostic.compare("", dtype.name(), self.cells.name(num));
        let diagnostic = match self.cells.known(num) {
            None if dtype.is_int() => match self.cells.literal_of(num) {
                Some(Const::Float(value)) if value.fract() == 0.0 => {
                    diagnostic.help(format!("{value:.0}"))
                }
                _ => diagnostic.why(format!("`{}` holds no fractions", dtype.name())),
            },
            None => self.literal_help(diagnostic, dtype, num),
            Some(Dtype::Bool) => diagnostic.help("select(mask, 1, 0)"),
            Some(_) => self.cast_help(diagnostic, dtype, num),
        };
        self.report(diagnostic);
        None
    }

    /// Rust's types have a tile with a tile of addresses, where a scalar would mean the same.
    fn wants_tile(&mut self, value: Value, at: Value, headline: &str, loc: Loc) -> Option<()> {
        if !self.is_scalar(value) {
            return Some(());
        }
        let name = match self.ty(value) {
            Type::Scalar(Elem::Number(_)) => self.cells.name(self.num(value)),
            _ => return Some(()),
        };
        let shape = self.ty(at).shape().to_vec();
        let actual = self.describe(&Val::Value(value));
        self.report(
            Diagnostic::new(Code::Kind, loc, headline)
                .compare("", format!("a `Tile<{name}>` of extents {shape:?}"), actual)
                .help(self.full_of(&shape, &Val::Value(value), Dtype::I32)),
        );
        None
    }

    /// A tile with a scalar in every element; a whole number is written as one of the element type.
    fn full_of(&self, shape: &[u32], scalar: &Val, dtype: Dtype) -> String {
        let scalar = match scalar {
            Val::Const(Const::Int(value), _) => {
                Some(self.whole_number(&value.to_string(), Num::Known(dtype)))
            }
            other => self.written(other),
        };
        format!("full({shape:?}, {})", scalar.unwrap_or_else(|| "x".to_owned()))
    }

    /// `atomic::add(at, value)` and the like.
    pub(crate) fn atomic_op(&mut self, op: Atomic, name: &str, vals: &[Arg<'_>], loc: Loc) -> Val {
        let Some(at) = self.address(vals[0]) else { return Val::Error };
        let Some(Elem::Ptr(dtype)) = self.ty(at).elem() else { return Val::Error };
        let words = dtype.has_arithmetic() && dtype.bytes() >= 4;
        let legal = match op {
            Atomic::Add => words || dtype.is_half(),
            Atomic::Max | Atomic::Min | Atomic::And | Atomic::Or | Atomic::Xor => {
                words && dtype.is_int()
            }
            Atomic::Exchange | Atomic::CompareExchange => words,
        } && (dtype != Dtype::Bf16 || self.target.has(Capability::Bf16Atomics));
        if !legal {
            let wants = match op {
                Atomic::Add => "32- and 64-bit integers, f16, f32, f64 (bf16 from sm_90a)",
                Atomic::Exchange | Atomic::CompareExchange => "types of 32 and 64 bits",
                _ => "32- and 64-bit integers",
            };
            return self.refuse_dtype(&format!("`atomic::{name}`"), wants, Num::Known(dtype), loc);
        }
        let mut args = vec![at];
        for val in &vals[1..] {
            let Some((_, value)) = self.stored_value(at, *val, "an atomic") else {
                return Val::Error;
            };
            args.push(value);
        }
        self.note_write(at);
        let ty = self.ty(at).with_elem(Elem::Number(dtype));
        Val::Value(self.emit(Op::Atomic(op), args, ty, loc))
    }

    // -------------------------------------------------------------------------------- shared memory

    /// `shared::<T>(shape)`
    pub(crate) fn shared_alloc(
        &mut self,
        segment: &Segment,
        shape: &Val,
        shape_expr: &Expr,
        env: Env,
        loc: Loc,
    ) -> Val {
        if self.conditional > 0 {
            return self.report(
                Diagnostic::new(Code::SharedInLoop, loc, "shared memory is allocated inside a loop or branch")
                    .why("its address is fixed when compiling, so each iteration would get the memory that other threads may still use")
                    .help("let tile = shared::<f32>([64, 64]); // before the loop"),
            );
        }
        let num = self.element_arg(segment, env);
        let Some(shape) = self.ring_shape(shape, shape_expr) else { return Val::Error };
        if shape.len() > 3 {
            return self.report(
                Diagnostic::new(
                    Code::Axis,
                    shape_expr.loc,
                    "a shared tile has one or two axes, and one more for a ring",
                )
                .compare("rank", "1 to 3", shape.len().to_string()),
            );
        }
        let dtype = self.cells.settled(num);
        let root: Shared =
            self.shared.alloc(SharedData { dtype, shape: shape.clone(), pinned: None, loc });
        if let Num::Cell(_) = self.cells.find(num) {
            self.shared_cells.insert(root, num);
        }
        let ty = Type::Shared(SharedType { root, dtype, shape, transposed: false, remote: false });
        Val::Value(self.emit(Op::SharedAlloc(root), Vec::new(), ty, loc))
    }

    /// The extents of a shared allocation: of three, the first counts buffers and may be any number.
    pub(crate) fn ring_shape(&mut self, val: &Val, at: &Expr) -> Option<Vec<u32>> {
        let Val::Array(parts) = val else { return self.shape(val, at) };
        let [ring, rest @ ..] = parts.as_slice() else { return self.shape(val, at) };
        if rest.len() != 2 {
            return self.shape(val, at);
        }
        let loc = at.part(0);
        let count = self.const_int(ring, "the number of buffers", loc)?;
        let Some(count) = u32::try_from(count).ok().filter(|count| (1..=1024).contains(count))
        else {
            self.report(
                Diagnostic::new(Code::Extent, loc, format!("a ring cannot have {count} buffers"))
                    .compare("buffers", "1 to 1024", count.to_string()),
            );
            return None;
        };
        let mut shape = self.extents(rest, at, 1)?;
        shape.insert(0, count);
        Some(shape)
    }

    /// `window.with_layout(form)`
    pub(crate) fn shared_layout(&mut self, window: Value, form: Form, loc: Loc) -> Val {
        let Type::Shared(shared) = self.ty(window).clone() else { return Val::Error };
        let form = match form {
            Form::NvmmaShared { swizzle_bytes, transposed, fp4_padded, .. } => Form::NvmmaShared {
                swizzle_bytes,
                element_bits: self.cells.settled(self.num(window)).shared_bytes() * 8,
                transposed,
                fp4_padded,
            },
            other => other,
        };
        let dtype = self.cells.settled(self.num(window));
        if self.padded_dtype(&form, dtype, loc).is_none() {
            return Val::Error;
        }
        let data = &self.shared[shared.root];
        let tile: Vec<u32> = data.shape[data.shape.len().saturating_sub(2)..].to_vec();
        let pinned = data.pinned.clone();
        if let Some(pinned) =
            pinned.filter(|pinned| pinned.to_layout(&tile) != form.to_layout(&tile))
        {
            let chosen_at = self.shared_pins.get(shared.root).copied().unwrap_or(data.loc);
            return self.report(
                Diagnostic::new(Code::SharedUse, loc, "this allocation has another layout already")
                    .compare("", pinned.in_code(), form.in_code())
                    .place(chosen_at, "layout chosen here")
                    .why("bytes that are written in one layout and read in another would be other elements")
                    .help(pinned.in_code()),
            );
        }
        let element_bytes = self.cells.settled(self.num(window)).shared_bytes();
        if let Err(problem) = pinned_shared(&form, loc, tile, element_bytes) {
            return self.report(problem.into_diagnostic());
        }
        self.shared[shared.root].pinned = Some(form);
        self.shared_pins.insert(shared.root, loc);
        Val::Value(window)
    }

    /// `window.load()`
    pub(crate) fn load_shared(&mut self, window: Value, loc: Loc) -> Option<Value> {
        let Type::Shared(shared) = self.ty(window).clone() else { return None };
        self.check_window(window, &shared, loc)?;
        let num = self.num(window);
        self.check_budget(&shared.shape, num, loc)?;
        Some(self.emit_num(Op::LoadShared, vec![window], Some(shared.shape), num, loc))
    }

    pub(crate) fn check_window(
        &mut self,
        window: Value,
        shared: &SharedType,
        loc: Loc,
    ) -> Option<()> {
        if shared.shape.len() <= 2 {
            return Some(());
        }
        self.report(
            Diagnostic::new(
                Code::SharedUse,
                loc,
                "one buffer of a ring is read or written at a time",
            )
            .compare("rank", "1 or 2", shared.shape.len().to_string())
            .help(self.applied(window, "[0]")),
        );
        None
    }

    /// `window.store(tile)`
    pub(crate) fn store_shared(
        &mut self,
        window: Value,
        value: &Val,
        value_loc: Loc,
        loc: Loc,
    ) -> Val {
        let Some(tile) = self.stored_tile(window, (value, value_loc), loc) else {
            return Val::Error;
        };
        self.op(Op::StoreShared, vec![window, tile], None, loc);
        Val::Unit
    }

    /// A tile that fits the window that it is stored to.
    pub(crate) fn stored_tile(
        &mut self,
        window: Value,
        (value, value_loc): Arg<'_>,
        loc: Loc,
    ) -> Option<Value> {
        let Type::Shared(shared) = self.ty(window).clone() else { return None };
        self.check_window(window, &shared, loc)?;
        let tile = self.value(value, value_loc)?;
        let value = if let Val::Const(..) = value { value } else { &Val::Value(tile) };
        let fits = self.cells.unify(self.num(tile), self.num(window)).is_ok();
        let dtype = self.cells.settled(self.num(window));
        self.tile_to_store(value, dtype, &shared.shape, value_loc)?;
        fits.then_some(tile)
    }

    /// Whether a parameter is a tensor that is written to.
    fn is_written(&self, param: u32) -> bool {
        matches!(self.params[param as usize].kind, ParamKind::Tensor { mutable: true, .. })
    }

    /// `copy_async(from, to)`
    pub(crate) fn copy_async(&mut self, from: &Val, to: &Val, args: &[Expr], loc: Loc) -> Val {
        let candidates = |builder: &mut Self, from_text: String, to_text: String| {
            let mut diagnostic = Diagnostic::new(
                Code::CopyOperands,
                loc,
                "no asynchronous copy joins these operands",
            )
            .compare("from", "a window of a tensor: `a.tile([i, j], [M, N])`", from_text)
            .compare("to", "shared memory: `shared::<T>([M, N])`", to_text);
            diagnostic = diagnostic.why(if builder.target.has(Capability::Tma) {
                "asynchronous copies go between tensors and shared memory, past the registers; one to a tensor goes by tensor map, and is `tma::store`"
            } else {
                "cp.async moves global memory to shared memory, past the registers; the way back is through them"
            });
            let texts = (args[0].operand_text(), args[1].operand_text());
            match (from, to, texts) {
                (Val::Value(window), Val::View(view), (Some(from), Some(to)))
                    if builder.is_written(view.param) =>
                {
                    let read = if builder.memory_of(*window).is_some() { ".load()" } else { "" };
                    diagnostic = diagnostic.help(format!("{to}.store({from}{read})"));
                }
                (Val::Value(tile), Val::Value(window), (Some(from), Some(to)))
                    if matches!(builder.ty(*tile), Type::Tile(..))
                        && matches!(builder.ty(*window), Type::Shared(_)) =>
                {
                    diagnostic = diagnostic.help(format!("{to}.store({from})"));
                }
                (Val::Value(held), Val::Value(window), (Some(from), Some(to)))
                    if matches!(builder.ty(*held), Type::TensorMemory(_))
                        && matches!(builder.ty(*window), Type::Shared(_)) =>
                {
                    diagnostic = diagnostic.help(format!("{to}.store({from}.load())"));
                }
                (Val::Value(window), Val::Value(other), (Some(from), Some(to)))
                    if matches!(builder.ty(*window), Type::Shared(_))
                        && matches!(builder.ty(*other), Type::Shared(to) if to.remote) =>
                {
                    let bar = builder.barrier_in_sight();
                    diagnostic = diagnostic.help(format!("bulk::send({from}, {bar}, {to})"));
                }
                (address @ Val::Value(_), Val::Value(window), (Some(from), Some(to)))
                    if builder.is_one_address(address)
                        && matches!(builder.ty(*window), Type::Shared(_)) =>
                {
                    let bar = builder.barrier_in_sight();
                    diagnostic = diagnostic.help(format!("bulk::load({from}, {bar}, {to})"));
                }
                _ => {}
            }
            builder.report(diagnostic)
        };
        if let (Val::Value(window), Val::View(view)) = (from, to)
            && matches!(self.ty(*window), Type::Shared(_))
            && self.is_written(view.param)
            && self.target.has(Capability::Tma)
        {
            return self.store_window(&view.clone(), (from, args[0].loc), loc);
        }
        if let Val::Value(tile) = to
            && matches!(self.ty(*tile), Type::TensorMemory(_))
        {
            return match self.tensor_copy([from, to], args, loc) {
                Some(()) => self.copying(loc),
                None => Val::Error,
            };
        }
        let (Val::View(view), Val::Value(window)) = (from, to) else {
            let (a, b) = (self.describe(from), self.describe(to));
            return candidates(self, a, b);
        };
        let Type::Shared(shared) = self.ty(*window).clone() else {
            let (a, b) = (self.describe(from), self.describe(to));
            return candidates(self, a, b);
        };
        let (view, window) = (view.clone(), *window);
        if view.part == Part::Block && self.target.has(Capability::Tma) {
            let Some(corner) = view.corner() else { return Val::Error };
            self.note_corner(&view, loc);
            let tma = Tma::plain(TmaKind::Staged, view.param);
            return self.tma_copy(tma, corner, None, (to, args[1].loc), loc);
        }
        if self.check_window(window, &shared, args[1].loc).is_none()
            || self.own_window(&shared, "a copy from a tensor", args[1].loc).is_none()
        {
            return Val::Error;
        }
        if view.shape != shared.shape {
            return self.report(
                Diagnostic::new(
                    Code::ShapeMismatch,
                    loc,
                    "a copy has the same extents on both sides",
                )
                .compare(
                    "",
                    format!("{:?}", shared.shape),
                    format!("{:?}", view.shape),
                ),
            );
        }
        let ParamKind::Tensor { dtype, .. } = self.params[view.param as usize].kind else {
            return Val::Error;
        };
        if self.copied_dtype(dtype, (window, &shared), args[1].loc).is_none() {
            return Val::Error;
        }
        let Some(mut operands) = view.corner() else { return Val::Error };
        self.note_corner(&view, loc);
        operands.push(window);
        self.op(Op::CopyAsync(view.param), operands, None, loc);
        self.copying(loc)
    }

    /// `copy_async(tile, window)` from shared memory to a tensor, which goes by tensor map.
    fn store_window(&mut self, view: &ViewVal, window: (&Val, Loc), loc: Loc) -> Val {
        if let Val::Value(value) = window.0
            && let Type::Shared(shared) = self.ty(*value).clone()
            && self.params[view.param as usize].block.is_none()
            && view.shape != shared.shape
        {
            return self.report(
                Diagnostic::new(
                    Code::ShapeMismatch,
                    loc,
                    "a copy has the same extents on both sides",
                )
                .compare(
                    "",
                    format!("{:?}", view.shape),
                    format!("{:?}", shared.shape),
                ),
            );
        }
        let Some(corner) = view.corner() else { return Val::Error };
        self.note_corner(view, loc);
        self.tma_copy(Tma::plain(TmaKind::Store, view.param), corner, None, window, loc)
    }
}
