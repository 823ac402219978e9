//! Memory: windows of tensors, pointers, shared memory, copies, atomics.

use std::rc::Rc;

use kernel_layout::Form;

use kernel_ptx::Capability;

use crate::{
    diag::{Code, Lacking, Missing, Spot},
    elaborate::{
        Builder,
        language::{
            generic::Destination,
            value::{Num, Part, Val, ViewVal},
        },
        signatures::Given,
    },
    ir::{
        Atomic, Const, Copied, CopyOp, Dtype, Elem, Evict, Extents, MemoryOp, ParamKind, Scope,
        Tma, TmaKind, Type, Value,
    },
    layouts::pinned_shared,
    loc::Loc,
    syntax::{Expr, ExprKind},
};

/// An argument, and where it stands.
type Arg<'v> = (&'v Val, Loc);

/// How a coordinate of a window is written.
fn written_at(args: &[Expr], index: usize) -> Option<String> {
    let ExprKind::Array(parts) = &args.first()?.kind else { return None };
    parts.get(index)?.operand_text()
}

impl Builder<'_> {
    /// `tensor.tile(at, shape)`
    pub(crate) fn window(&mut self, given: &Given<'_>) -> Option<Val> {
        let (mut at, places, shape) = self.corner_and_extents(0, given)?;
        if let Val::Slice(slice) = &given.of {
            at = self.corner_in_slice(slice, &at, given.loc)?;
        }
        let param = given.tensor();
        Some(Val::View(Rc::new(ViewVal {
            param,
            at,
            places,
            shape,
            part: Part::Tile,
            evict: Evict::Normal,
            order: None,
            scope: None,
        })))
    }

    /// The corner of a window, where each coordinate stands, and its extents: the arguments from `first` on.
    pub(super) fn corner_and_extents(
        &mut self,
        first: usize,
        given: &Given<'_>,
    ) -> Option<(Vec<Val>, Vec<Loc>, Vec<u32>)> {
        let (param, shape) = (given.tensor(), given.shape(first + 1));
        let rank = self.params[param as usize].kind.rank();
        let Val::Array(parts) = given.val(first) else {
            let headline = "the corner of a window is an array, one coordinate for each axis";
            return self.refuse_kind(headline, "an array such as `[i, j]`", given.arg(first));
        };
        for (what, have, loc) in [
            ("coordinates", parts.len(), given.at(first)),
            ("extents", shape.len(), given.at(first + 1)),
        ] {
            if have != rank as usize {
                let headline =
                    "a window has one coordinate and one extent for each axis of its tensor";
                return self.refuse(
                    Code::Axis
                        .at(loc, headline)
                        .compare(what, rank, have)
                        .place(self.params[param as usize].loc, "the tensor"),
                );
            }
        }
        let (mut at, mut places) = (Vec::new(), Vec::new());
        for (index, part) in parts.iter().enumerate() {
            let loc = given.args[first].part(index);
            let value = self.value(part, loc)?;
            let headline = "the coordinates of a window are scalars";
            self.wants_scalar_of(Some(Dtype::I32), value, headline, loc)?;
            if !self.is_scalar(value)
                || self.cells.unify(self.num(value), Num::Known(Dtype::I32)).is_err()
                || self.is_ptr(value)
            {
                return self.refuse(
                    Code::Kind
                        .at(loc, "the coordinates of a window are `i32`")
                        .compare("", "a scalar (i32)", self.describe(part))
                        .why("coordinates count elements along an axis, as its extent does, which is an `i32`")
                        .help_if(
                            written_at(&given.args[first..], index).map(|text| format!("{text} as i32")),
                        ),
                );
            }
            at.push(Val::Value(value));
            places.push(loc);
        }
        Some((at, places, shape))
    }

    /// `view.load()`
    pub(crate) fn load_tensor(&mut self, given: &Given<'_>) -> Option<Val> {
        let (view, loc) = (given.view(), given.loc);
        self.unordered(view, "load", given)?;
        if let Some(listed) = view.listed() {
            return Some(self.load_rows(view, listed, loc));
        }
        let dtype = self.params[view.param as usize].kind.dtype();
        let corner = view.corner()?;
        if view.part == Part::Block {
            self.only_by_copy(view.param, "a load into registers", loc)?;
        }
        self.note_corner(view, loc);
        self.check_budget(&view.shape, Num::Known(dtype), loc)?;
        let ty = Type::Tile(Elem::Number(dtype), view.shape.clone());
        let tile = self.emit(MemoryOp::LoadTensor(view.param, view.evict), corner, ty, loc);
        if let Some(of) = self.params[view.param as usize].points_to {
            return Some(Val::Value(self.bits_as(Elem::Ptr(of), tile, loc)));
        }
        self.mark_of_param(view.param, tile);
        Some(Val::Value(tile))
    }

    /// The element type of the tensor of a window that is written.
    pub(super) fn writable(&mut self, view: &ViewVal, what: &str, loc: Loc) -> Option<Dtype> {
        let param = &self.params[view.param as usize];
        let ParamKind::Tensor { dtype, mutable, rank } = param.kind else { return None };
        if mutable {
            return Some(dtype);
        }
        let name = &param.name;
        let element = match param.points_to {
            Some(of) => format!("Ptr<{}>", of.name()),
            None => dtype.name().to_owned(),
        };
        let (required, actual) =
            ["TensorMut", "Tensor"].map(|kind| format!("{kind}<{element}, {rank}>")).into();
        let diagnostic = Code::ReadOnly
            .at(loc, format!("{what} `{name}`, which is read-only"))
            .compare("", format!("a `{required}`"), format!("a `{actual}`"))
            .place(param.loc, "declared here")
            .why(
                "the launch borrows a `Tensor` with `&`: other kernels may read it at the same time",
            )
            .help(format!("{name}: {required}"));
        self.refuse(diagnostic)
    }

    /// `view.store(value)`
    pub(crate) fn store_tensor(&mut self, given: &Given<'_>) -> Option<()> {
        let (view, (value, value_loc)) = (given.view(), given.arg(0));
        self.unordered(view, "store", given)?;
        let dtype = self.writable(view, "a store to", given.loc)?;
        let headline = "the tile does not have the element type of its destination";
        let points_to = self.params[view.param as usize].points_to;
        if points_to.is_none()
            && let Val::Value(tile) = self.plain(value.clone())
            && self.stores_literal(Destination::Param(view.param), tile, headline, value_loc)
        {
            return None;
        }
        let tile = match points_to {
            Some(of) => self.addresses_to_store(value, of, &view.shape, value_loc)?,
            None => self.tile_to_store(value, dtype, &view.shape, value_loc)?,
        };
        if let Some((at, mask)) = view.listed() {
            self.note_write(at);
            return self.does(MemoryOp::StorePtr { masked: true }, vec![at, tile, mask], given);
        }
        let mut args = view.corner()?;
        self.note_corner(view, given.loc);
        args.push(tile);
        self.does(MemoryOp::StoreTensor(view.param, view.evict), args, given)
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
        let other_extents = Code::ShapeMismatch
            .at(loc, "the tile does not have the extents of its destination")
            .why("a store writes each element of its destination once");
        if matches!(self.ty(tile), Type::Scalar(Elem::Number(_))) {
            let (diagnostic, help) = if !self.is_point(tile) {
                let headline = "a tile is stored, not a scalar";
                (Code::Kind.at(loc, headline), self.full_of(shape, value, dtype))
            } else if shape == [1] {
                (other_extents, ".expand(0)".to_owned())
            } else {
                (other_extents, format!(".broadcast({shape:?})"))
            };
            let required = format!("a `Tile<{}>` of extents {shape:?}", dtype.name());
            let actual = self.describe(value);
            return self.refuse(diagnostic.compare("", required, actual).help(help));
        }
        let tile = self.tile(value, "a store", loc)?;
        if self.ty(tile).shape() != shape {
            let own = self.ty(tile).shape();
            let actual = format!("{own:?}");
            let longer = |shape: &[u32]| -> Vec<u32> {
                shape.iter().copied().filter(|extent| *extent > 1).collect()
            };
            // The axes of extent 1 are missing, or too many.
            let reshaped = longer(own) == longer(shape);
            let help = reshaped.then(|| format!(".reshape({shape:?})"));
            let refused = other_extents.compare("", format!("{shape:?}"), actual).help_if(help);
            return self.refuse(refused);
        }
        if self.is_ptr(tile) || self.cells.unify(self.num(tile), Num::Known(dtype)).is_err() {
            let num = self.num(tile);
            let mut diagnostic = Code::DtypeMismatch
                .at(loc, "the tile does not have the element type of its destination")
                .compare("", dtype.name(), self.cells.name(num));
            if !dtype.is_opaque() {
                diagnostic = diagnostic
                    .why("nothing converts by itself: `cast` says where numbers are rounded");
            }
            return self.refuse(self.cast_help(diagnostic, dtype, num));
        }
        Some(tile)
    }

    // ------------------------------------------------------------------------------------- pointers

    pub(crate) fn address(&mut self, (val, loc): Arg<'_>) -> Option<Value> {
        let value = self.value(val, loc)?;
        if self.is_ptr(value) {
            return Some(value);
        }
        self.refuse(
            Code::Kind
                .at(loc, "an address is required here")
                .compare("", "a `Ptr<T>` or a `Tile<Ptr<T>>`", self.describe(val))
                .help("p + offsets"),
        )
    }

    /// `load(at)`, `load_masked(at, mask, other)`
    pub(crate) fn load_ptr(
        &mut self,
        masked: Option<[Arg<'_>; 2]>,
        given: &Given<'_>,
    ) -> Option<Val> {
        let (at, loc) = (given.value(0), given.loc);
        let Some(Elem::Ptr(dtype)) = self.ty(at).elem() else { return None };
        let ty = self.ty(at).with_elem(Elem::Number(dtype));
        let mut args = vec![at];
        if let Some([mask, other]) = masked {
            let mask = self.mask(mask, at)?;
            let other = self.default_of(dtype, other, given)?;
            let (_, other) = self.same_shape(at, other, "`load_masked`", loc)?;
            args.extend([mask, other]);
        }
        Some(Val::Value(self.emit(MemoryOp::LoadPtr { masked: masked.is_some() }, args, ty, loc)))
    }

    /// The scalar that comes where a mask does not hold.
    fn default_of(
        &mut self,
        dtype: Dtype,
        (other, place): Arg<'_>,
        given: &Given<'_>,
    ) -> Option<Value> {
        let value = self.value(other, place)?;
        let headline = format!("the default value of `{}` is a scalar", given.signature.name);
        if !self.is_scalar(value) && !matches!(self.ty(value), Type::Error) {
            let required = format!("a scalar ({})", dtype.name());
            let actual = self.describe(&Val::Value(value));
            let diagnostic = Code::Kind.at(place, &headline).compare("", required, actual);
            return self.refuse(diagnostic.help(self.whole_number("0", Num::Known(dtype))));
        }
        self.wants_scalar(value, &headline, place)?;
        self.wants_element(value, dtype, place)?;
        Some(value)
    }

    /// A mask with the extents of the addresses.
    fn mask(&mut self, (mask, loc): Arg<'_>, at: Value) -> Option<Value> {
        let mask = self.value(mask, loc)?;
        if self.cells.known(self.num(mask)) != Some(Dtype::Bool) || self.is_ptr(mask) {
            let tile = matches!(self.ty(at), Type::Tile(..));
            let actual = self.describe(&Val::Value(mask));
            let required = if tile {
                "a tile of `bool` with the extents of the addresses"
            } else {
                "a `bool`"
            };
            let diagnostic = Code::DtypeRefused
                .at(loc, "a masked access takes a mask of truth values")
                .compare("", required, actual)
                .why("the mask says of each address whether it is accessed: where it does not hold, nothing is read or written");
            let bound = tile && self.is_scalar(mask);
            return self.refuse(diagnostic.lacks(bound.then_some(Missing {
                what: Lacking::Bound,
                after: loc,
                before: loc,
                spot: Spot::Before,
            })));
        }
        if self.is_scalar(at) {
            self.wants_scalar(mask, "the mask of one address is a scalar", loc)?;
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
            return self.refuse(
                Code::ShapeMismatch.at(loc, "the mask is larger than the addresses").compare(
                    "",
                    format!("{required:?}"),
                    format!("{actual:?}"),
                ),
            );
        }
        Some(mask)
    }

    /// `store(at, value)`, `store_masked(at, mask, value)`
    pub(crate) fn store_ptr(
        &mut self,
        mask: Option<Arg<'_>>,
        value: Arg<'_>,
        given: &Given<'_>,
    ) -> Option<()> {
        let (at, value) = self.stored_value(given.value(0), value, "a store")?;
        let mut args = vec![at, value];
        if let Some(mask) = mask {
            args.push(self.mask(mask, at)?);
        }
        self.note_write(at);
        self.does(MemoryOp::StorePtr { masked: mask.is_some() }, args, given)
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
            self.error(Code::DtypeRefused, loc, "addresses cannot be stored");
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
            return self.refuse(
                Code::ShapeMismatch.at(loc, "the value is larger than the addresses").compare(
                    "",
                    format!("{required:?}"),
                    format!("{actual:?}"),
                ),
            );
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
        let diagnostic = Code::DtypeMismatch.at(loc, headline);
        let diagnostic = diagnostic.compare("", dtype.name(), self.cells.name(num));
        let diagnostic = match self.cells.known(num) {
            None if dtype.is_int() => match self.cells.literal_of(num) {
                Some(Const::Float(value)) if value.fract() == 0.0 => {
                    diagnostic.help(format!("{value:.0}"))
                }
                _ => diagnostic.why(format!("`{}` holds no fractions", dtype.name())),
            },
            None => self.literal_help(diagnostic, dtype, num),
            Some(_) => self.cast_help(
                diagnostic.why("nothing converts by itself: `cast` says where numbers are rounded"),
                dtype,
                num,
            ),
        };
        self.refuse(diagnostic)
    }

    /// Rust's types have a tile with a tile of addresses, even if a scalar would mean the same.
    fn wants_tile(&mut self, value: Value, at: Value, headline: &str, loc: Loc) -> Option<()> {
        if !self.is_scalar(value) {
            return Some(());
        }
        let Type::Scalar(Elem::Number(_)) = self.ty(value) else { return Some(()) };
        let name = self.cells.name(self.num(value));
        let shape = self.ty(at).shape().to_vec();
        self.refuse(
            Code::Kind
                .at(loc, headline)
                .compare(
                    "",
                    format!("a `Tile<{name}>` of extents {shape:?}"),
                    self.describe(&Val::Value(value)),
                )
                .help(self.full_of(&shape, &Val::Value(value), Dtype::I32)),
        )
    }

    /// A tile with a scalar in every element; a whole number is written as one of the element type.
    pub(crate) fn full_of(&self, shape: &[u32], scalar: &Val, dtype: Dtype) -> String {
        let scalar = if let Val::Const(Const::Int(value), _) = scalar {
            Some(self.whole_number(&value.to_string(), Num::Known(dtype)))
        } else {
            self.written(scalar)
        };
        format!("full({shape:?}, {})", scalar.unwrap_or_else(|| "x".to_owned()))
    }

    /// `atomic::add(at, value)` and the like.
    pub(crate) fn atomic(
        &mut self,
        (op, scope): (Atomic, Scope),
        given: &Given<'_>,
    ) -> Option<Val> {
        let at = given.value(0);
        let Some(Elem::Ptr(dtype)) = self.ty(at).elem() else { return None };
        self.wants_atomic(op, dtype, given)?;
        let mut args = vec![at];
        for index in 1..given.args.len() {
            args.push(self.stored_value(at, given.arg(index), "an atomic")?.1);
        }
        self.note_write(at);
        let ty = self.ty(at).with_elem(Elem::Number(dtype));
        Some(Val::Value(self.emit(MemoryOp::Atomic(op, scope), args, ty, given.loc)))
    }

    // -------------------------------------------------------------------------------- shared memory

    /// Reports what is made inside a loop or branch although a kernel makes it once; `help` makes one.
    pub(crate) fn made_once(
        &mut self,
        headline: &str,
        why: &str,
        help: &str,
        loc: Loc,
    ) -> Option<()> {
        if self.conditional == 0 {
            return Some(());
        }
        self.refuse(Code::SharedInLoop.at(loc, headline).why(why).help(help))
    }

    /// `window.with_layout(form)`
    pub(crate) fn shared_layout(&mut self, given: &Given<'_>) -> Option<Val> {
        let (window, loc) = (given.receiver(), given.at(0));
        let Type::Shared(shared) = self.ty(window).clone() else { return None };
        if !shared.is_plain() {
            let place = self.shared[shared.root].loc;
            return self.refuse(
                Code::SharedUse
                    .at(given.loc, "a view has the layout of its allocation")
                    .place(place, "the shared memory")
                    .why("the layout says where the elements of the allocation are; a view is some of these")
                    .help(".with_layout(..) // directly after `shared`, before the view")
                    .exemplified(),
            );
        }
        let dtype = self.cells.settled(self.num(window));
        let element_bytes = dtype.shared_bytes();
        let mut form = given.layout(0);
        if let Form::NvmmaShared { element_bits, .. } = &mut form {
            *element_bits = element_bytes * 8;
        }
        self.padded_dtype(&form, dtype, loc)?;
        let data = &self.shared[shared.root];
        let tile: Vec<u32> = data.shape[data.shape.len().saturating_sub(2)..].to_vec();
        let pinned = data.pinned.clone();
        let chosen_at = self.shared_pins.get(shared.root).copied().unwrap_or(data.loc);
        let why = "bytes written in one layout and read in another would be different elements";
        self.keeps_layout((pinned, chosen_at), (&form, &tile), (Code::SharedUse, why), loc)?;
        if let Err(problem) = pinned_shared(&form, loc, tile, element_bytes) {
            return self.refuse(problem.into_diagnostic());
        }
        self.shared[shared.root].pinned = Some(form);
        self.shared_pins.insert(shared.root, loc);
        Some(Val::Value(window))
    }

    /// The layout of an allocation is that to which it was pinned before, at `chosen_at`; or a report.
    pub(crate) fn keeps_layout(
        &mut self,
        (pinned, chosen_at): (Option<Form>, Loc),
        (form, tile): (&Form, &[u32]),
        (code, why): (Code, &str),
        loc: Loc,
    ) -> Option<()> {
        let differs = |pinned: &Form| pinned.to_layout(tile) != form.to_layout(tile);
        let Some(pinned) = pinned.filter(differs) else { return Some(()) };
        self.refuse(
            code.at(loc, "this allocation already has another layout")
                .compare("", pinned.in_code(), form.in_code())
                .place(chosen_at, "layout chosen here")
                .why(why)
                .help(pinned.in_code()),
        )
    }

    /// `window.load()`
    pub(crate) fn load_shared(&mut self, window: Value, loc: Loc) -> Option<Value> {
        let Type::Shared(shared) = self.ty(window).clone() else { return None };
        self.whole_window(window, &shared, loc)?;
        let num = self.num(window);
        self.check_budget(&shared.shape, num, loc)?;
        Some(self.emit_num(MemoryOp::LoadShared, vec![window], Some(shared.shape), num, loc))
    }

    /// `window.store(value)`
    pub(crate) fn store_shared(&mut self, given: &Given<'_>) -> Option<()> {
        let window = given.receiver();
        let tile = self.stored_tile(window, given.arg(0), given.loc)?;
        self.does(MemoryOp::StoreShared, vec![window, tile], given)
    }

    /// A tile that fits the window that it is stored to.
    pub(crate) fn stored_tile(
        &mut self,
        window: Value,
        (value, value_loc): Arg<'_>,
        loc: Loc,
    ) -> Option<Value> {
        let Type::Shared(shared) = self.ty(window).clone() else { return None };
        self.whole_window(window, &shared, loc)?;
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
    pub(crate) fn copy_async(&mut self, given: &Given<'_>) -> Option<()> {
        let (from, to, loc) = (given.val(0), given.val(1), given.loc);
        self.unordered_copy(given)?;
        if let Val::View(view) = to
            && self.shared_window(from).is_some()
            && self.is_written(view.param)
            && self.target.has(Capability::Tma)
            && view.part != Part::Rows
        {
            return self.store_window(view, given);
        }
        if self.in_tensor_memory(to) {
            return self.tensor_copy(given);
        }
        if let Val::Value(address) = from
            && matches!(self.ty(*address), Type::Tile(Elem::Ptr(_), _))
            && self.shared_window(to).is_some()
        {
            return self.copy_addresses(*address, None, given.arg(1), given);
        }
        let (Val::View(view), Some((window, shared))) = (from, self.shared_window(to)) else {
            return self.no_copy(given);
        };
        let at = given.at(1);
        if let Some(listed) = view.listed() {
            return self.copy_rows(view, listed, (window, &shared), given);
        }
        if view.part == Part::Block && self.target.has(Capability::Tma) {
            let positions = view.corner()?;
            self.note_corner(view, loc);
            let window = self.copied_tiles(to, at)?;
            let tma = Tma { evict: view.evict, ..Tma::plain(TmaKind::Staged, view.param) };
            let (tma, positions) = self.bounded_copy(tma, &positions, loc)?;
            return self.tma_copy(tma, (positions, None), ((window.0, &window.1), at), loc);
        }
        self.whole_window(window, &shared, at)?;
        self.own_window(&shared, "a copy from a tensor", at)?;
        self.same_elements_in_order(&shared.shape, &view.shape, loc)?;
        let dtype = self.params[view.param as usize].kind.dtype();
        self.copied_dtype(dtype, (window, &shared), at)?;
        let mut operands = view.corner()?;
        self.note_corner(view, loc);
        operands.push(window);
        let copied = Copied::Tile { param: view.param, extents: Extents::of(&view.shape) };
        self.does(CopyOp::Async(copied, view.evict), operands, given)
    }

    /// `copy_async_masked(at, mask, other, to)`
    pub(crate) fn copy_async_masked(&mut self, given: &Given<'_>) -> Option<()> {
        let at = given.value(0);
        if !matches!(self.ty(at), Type::Tile(Elem::Ptr(_), _)) {
            let headline = "a copy goes from a tile of addresses";
            return self.refuse_kind(headline, "a `Tile<Ptr<T>>`", given.arg(0));
        }
        self.copy_addresses(at, Some([given.arg(1), given.arg(2)]), given.arg(3), given)
    }

    /// A copy of the elements at a tile of addresses, of those where a mask holds.
    fn copy_addresses(
        &mut self,
        at: Value,
        masked: Option<[Arg<'_>; 2]>,
        (to, place): Arg<'_>,
        given: &Given<'_>,
    ) -> Option<()> {
        let Some(Elem::Ptr(dtype)) = self.ty(at).elem() else { return None };
        let Some((window, shared)) = self.shared_window(to) else {
            let required = "shared memory: `shared::<T>([M, N])`";
            return self.refuse_kind(
                "a copy from addresses goes to shared memory",
                required,
                (to, place),
            );
        };
        self.whole_window(window, &shared, place)?;
        self.own_window(&shared, "a copy from addresses", place)?;
        let extents = self.ty(at).shape().to_vec();
        self.same_elements_in_order(&shared.shape, &extents, given.loc)?;
        self.copied_dtype(dtype, (window, &shared), place)?;
        let mut operands = vec![at];
        self.note_use(at, given.loc, given.at(0));
        if let Some([mask, (other, other_place)]) = masked {
            let mask_place = mask.1;
            let mask = self.mask(mask, at)?;
            self.note_use(mask, given.loc, mask_place);
            operands.push(mask);
            operands.push(self.default_of(dtype, (other, other_place), given)?);
        }
        operands.push(window);
        let copied = Copied::Addresses { masked: masked.is_some() };
        self.does(CopyOp::Async(copied, Evict::Normal), operands, given)
    }

    /// Reports operands that no copy joins, with what does what was meant.
    fn no_copy(&mut self, given: &Given<'_>) -> Option<()> {
        let (from, to) = (given.val(0), given.val(1));
        let why = if self.target.has(Capability::Tma) {
            "asynchronous copies go between tensors and shared memory without registers; to copy to a tensor, use `tma::store`"
        } else {
            "cp.async copies from global to shared memory without registers; the other direction needs registers"
        };
        let texts = (given.args[0].operand_text(), given.args[1].operand_text());
        let shared =
            |builder: &Self, val: &Val| builder.shared_window(val).map(|(_, shared)| shared);
        let help = match (from, to, texts) {
            (Val::Value(window), Val::View(view), (Some(from), Some(to)))
                if self.is_written(view.param) =>
            {
                let read = if self.memory_of(*window).is_some() { ".load()" } else { "" };
                Some(format!("{to}.store({from}{read})"))
            }
            (Val::View(_), Val::View(view), (Some(from), Some(to)))
                if self.is_written(view.param) =>
            {
                Some(format!("{to}.store({from}.load())"))
            }
            (Val::Value(held), window, (Some(from), Some(to))) => match shared(self, window) {
                None => None,
                Some(window) => match self.ty(*held) {
                    Type::Tile(..) => Some(format!("{to}.store({from})")),
                    Type::TensorMemory(_) => Some(format!("{to}.store({from}.load())")),
                    Type::Shared(_) if window.remote => {
                        Some(format!("bulk::send({from}, {}, {to})", self.barrier_in_sight()))
                    }
                    Type::Scalar(Elem::Ptr(_)) => {
                        Some(format!("bulk::load({from}, {}, {to})", self.barrier_in_sight()))
                    }
                    Type::Scalar(Elem::Number(_))
                    | Type::Shared(_)
                    | Type::Barrier(_)
                    | Type::Error => None,
                },
            },
            _ => None,
        };
        self.refuse(
            Code::CopyOperands
                .at(given.loc, "no asynchronous copy between these operands")
                .compare(
                    "from",
                    "a window of a tensor: `a.tile([i, j], [M, N])`",
                    self.describe(from),
                )
                .compare("to", "shared memory: `shared::<T>([M, N])`", self.describe(to))
                .why(why)
                .help_if(help),
        )
    }

    /// `copy_async(tile, window)` from shared memory to a tensor, which goes by tensor map.
    fn store_window(&mut self, view: &ViewVal, given: &Given<'_>) -> Option<()> {
        let (from, at) = given.arg(0);
        if let Some((_, shared)) = self.shared_window(from)
            && self.params[view.param as usize].block.is_none()
        {
            self.same_elements_in_order(&view.shape, &shared.shape, given.loc)?;
        }
        let positions = view.corner()?;
        self.note_corner(view, given.loc);
        let (window, shared) = self.copied_tiles(from, at)?;
        let tma = Tma::plain(TmaKind::Store, view.param).of_extents(Extents::of(&view.shape));
        let tma = Tma { evict: view.evict, ..tma };
        let (tma, positions) = self.bounded_copy(tma, &positions, given.loc)?;
        self.tma_copy(tma, (positions, None), ((window, &shared), at), given.loc)
    }
}
