//! Views of shared memory: other extents, parts, and elements of another type.

use crate::{
    diag::{Code, Diagnostic},
    elaborate::{
        Builder,
        language::value::{Num, Val},
        signatures::Given,
    },
    ir::{Const, Dtype, Shared, SharedType, Type, Value, WindowOp},
    loc::Loc,
    syntax::Expr,
};

/// Elements that a view can have: the largest are those that one access of a thread moves.
const ELEMENT_BYTES: std::ops::RangeInclusive<u32> = 1..=8;
/// What a descriptor begins at a multiple of (PTX ISA, "Matrix Descriptor Format").
const DESCRIPTOR_BYTES: u32 = 16;

impl Builder<'_> {
    /// The extents of a view: powers of two, but for the buffers of a ring.
    pub(crate) fn view_shape(&mut self, val: &Val, at: &Expr) -> Option<Vec<u32>> {
        let first = val.parts().and_then(<[Val]>::first).cloned().map(|first| self.plain(first));
        match first {
            Some(Val::Const(Const::Int(first), _))
                if u32::try_from(first).is_ok_and(|first| !first.is_power_of_two()) =>
            {
                self.ring_shape(val, at)
            }
            _ => self.shape(val, at),
        }
    }

    /// `window.reshape(shape)`
    pub(crate) fn shared_reshape(&mut self, given: &Given<'_>) -> Option<Val> {
        let (window, shape) = (given.receiver(), given.shape(0));
        let shared = self.own_bytes(window, "reshape", given.loc)?;
        if let Some(to) = shared.reshaped(&shape) {
            if to == shared {
                return Some(Val::Value(window));
            }
            let ty = Type::Shared(to);
            return Some(Val::Value(self.emit(WindowOp::Reshape, vec![window], ty, given.loc)));
        }
        let have = shared.elements();
        let want: u64 = shape.iter().map(|extent| u64::from(*extent)).product();
        let extents = format!("the window has extents {:?}", shared.shape);
        if have != want {
            return self.refuse(
                Code::ShapeMismatch
                    .at(given.at(0), "`reshape` keeps the number of elements")
                    .compare("elements", have, want)
                    .why(extents),
            );
        }
        let first = shared.shape.iter().chain(&shape).find(|extent| !extent.is_power_of_two());
        let first = first.copied().unwrap_or(1);
        self.refuse(
            Code::SharedUse
                .at(given.at(0), format!("`reshape` does not divide the {first} buffers of a ring"))
                .compare("first extent", first_extent(&shared), first_of(&shape))
                .place(self.shared[shared.root].loc, "the ring")
                .why("the number of buffers is not a power of two, so it stays an axis of its own")
                .help(format!("{}[i].reshape(..)", self.applied(window, "")))
                .exemplified(),
        )
    }

    /// `window.tile(at, shape)`
    pub(crate) fn shared_tile(&mut self, given: &Given<'_>) -> Option<Val> {
        let (window, shape) = (given.receiver(), given.shape(1));
        let shared = self.own_bytes(window, "tile", given.loc)?;
        let rank = shared.shape.len();
        let starts = given.val(0).parts().unwrap_or(&[]).to_vec();
        for (count, at) in [(starts.len(), given.at(0)), (shape.len(), given.at(1))] {
            if count != rank {
                return self.refuse(
                    Code::Axis
                        .at(at, "a part of shared memory has an entry for each axis")
                        .compare("entries", rank, count)
                        .place(self.shared[shared.root].loc, "the shared memory"),
                );
            }
        }
        let mut operands = vec![window];
        for (axis, start) in starts.iter().enumerate() {
            let at = given.args[0].part(axis);
            let ends = (shared.shape[axis], shape[axis]);
            operands.push(self.part_start(start, axis, ends, at, given.loc)?);
        }
        let Some(part) = shared.part(&shape) else {
            let axis = (0..rank).find(|&axis| {
                shape[axis] != shared.shape[axis] && !shared.shape[axis].is_power_of_two()
            });
            let axis = axis.unwrap_or(0);
            return self.refuse(
                Code::SharedUse
                    .at(given.args[1].part(axis), "a part has all buffers of a ring")
                    .compare(format!("axis {axis}"), shared.shape[axis], shape[axis])
                    .place(self.shared[shared.root].loc, "the ring")
                    .why("the number of buffers is not a power of two")
                    .help(format!("{}[i].tile(..)", self.applied(window, "")))
                    .exemplified(),
            );
        };
        let ty = Type::Shared(part);
        Some(Val::Value(self.emit(WindowOp::Part, operands, ty, given.loc)))
    }

    /// Where a part begins on an axis of so many elements, of which it has some: a multiple of them.
    fn part_start(
        &mut self,
        start: &Val,
        axis: usize,
        (whole, extent): (u32, u32),
        at: Loc,
        loc: Loc,
    ) -> Option<Value> {
        if extent > whole {
            return self.refuse(
                Code::Overflow.at(at, "a part of shared memory ends outside of it").compare(
                    format!("axis {axis}"),
                    format!("{whole} elements at most"),
                    extent,
                ),
            );
        }
        let value = self.scalar_i32(start, "a part of shared memory begins at an `i32`", at)?;
        self.note_use(value, loc, at);
        let start = self.plain(start.clone());
        let Val::Const(Const::Int(start), _) = start else { return Some(value) };
        let end = start.saturating_add(extent.into());
        if start < 0 || end > i128::from(whole) {
            let (required, actual) = (format!("0 to {whole}"), format!("{start} to {end}"));
            return self.refuse(
                Code::Overflow.at(at, "a part of shared memory ends outside of it").compare(
                    format!("axis {axis}"),
                    required,
                    actual,
                ),
            );
        }
        let rest = start % i128::from(extent);
        if rest != 0 {
            return self.refuse(
                Code::SharedUse
                    .at(at, "a part of shared memory begins at a multiple of its extent")
                    .compare("start", format!("a multiple of {extent}"), start)
                    .why("then the bits of a position in the part and those of its start are different bits of an address, under every swizzle")
                    .help((start - rest).to_string()),
            );
        }
        Some(value)
    }

    /// `window.view::<U>()`
    pub(crate) fn shared_view(&mut self, given: &Given<'_>) -> Option<Val> {
        let window = given.receiver();
        let mut shared = self.own_bytes(window, "view", given.loc)?;
        if given.name.args.is_empty() {
            return self.refuse(
                Code::Kind
                    .at(given.name.loc, "a view names the type of its elements")
                    .why("its extents depend on the type")
                    .help("view::<u32>"),
            );
        }
        let num = self.other_type(given)?;
        let from = self.cells.settled(self.num(window));
        // What a view is made of has the type that it has now.
        if self.cells.unify(self.num(window), Num::Known(from)).is_err() {
            return None;
        }
        shared.dtype = from;
        let to = self.cells.settled(num);
        for (dtype, at) in [(from, given.loc), (to, given.name.loc)] {
            if dtype == Dtype::Bool || !ELEMENT_BYTES.contains(&dtype.shared_bytes()) {
                let wants = "numbers of 8, 16, 32 and 64 bits";
                return self.refuse_dtype("a view of shared memory", wants, Num::Known(dtype), at);
            }
        }
        if from == to {
            return Some(Val::Value(window));
        }
        if let Some(of_view) = shared.retyped(to) {
            let ty = Type::Shared(of_view);
            return Some(Val::Value(self.emit(WindowOp::Retype, vec![window], ty, given.loc)));
        }
        let (have, want) = (from.shared_bytes(), to.shared_bytes());
        let extent = shared.shape.last().copied().unwrap_or(1);
        let rows = extent * have;
        let bytes = if have == 1 { "byte" } else { "bytes" };
        let diagnostic = if rows < want || !extent.is_power_of_two() {
            Code::ShapeMismatch
                .at(
                    given.name.loc,
                    format!("a row of the window is no whole number of `{}`", to.name()),
                )
                .compare("bytes of a row", format!("a multiple of {want}"), rows)
                .why(format!("the last axis has {extent} elements of {have} {bytes}"))
        } else {
            Code::SharedUse
                .at(given.name.loc, "a view of wider elements needs rows that are contiguous")
                .compare("last axis", "a row of the shared memory", "elements of several rows")
                .why(format!("an element of `{}` is {want} bytes one after the other", to.name()))
        };
        self.refuse(diagnostic)
    }

    /// The type of a window of this block, of which a view is taken.
    fn own_bytes(&mut self, window: Value, method: &str, loc: Loc) -> Option<SharedType> {
        let Type::Shared(shared) = self.ty(window).clone() else { return None };
        if !shared.remote {
            return Some(shared);
        }
        self.refuse(
            Code::SharedUse
                .at(loc, format!("`{method}` needs shared memory of its own block"))
                .compare("", "a window of this block", "one of another block")
                .why("a view is made of positions in the block's own memory"),
        )
    }

    /// The element type of an allocation.
    fn allocated_dtype(&self, root: Shared) -> Dtype {
        let open = self.shared_cells.get(root).map(|&num| self.cells.settled(num));
        open.unwrap_or(self.shared[root].dtype)
    }

    /// A window of such elements as a part of one tile of its allocation, if it is one.
    pub(crate) fn in_tile(&self, shared: &SharedType, dtype: Dtype) -> Option<SharedType> {
        let &[.., rows, columns] = &self.shared[shared.root].shape[..] else {
            return shared.is_plain().then(|| shared.clone());
        };
        let bytes = self.allocated_dtype(shared.root).shared_bytes();
        SharedType { dtype, ..shared.clone() }.in_tile([rows, columns], bytes)
    }

    /// Reports a view that no descriptor describes: what is no part of a tile of its allocation.
    pub(crate) fn part_of_tile(
        &mut self,
        window: Value,
        shared: &SharedType,
        loc: Loc,
    ) -> Option<()> {
        if shared.is_plain() {
            return Some(());
        }
        let dtype = self.cells.settled(self.num(window));
        let (place, made) = (self.shared[shared.root].loc, self.allocated_dtype(shared.root));
        let packed = [dtype, made].map(|dtype| dtype.row().packing.is_some());
        let part = self.in_tile(shared, dtype).filter(|_| packed == [false; 2]);
        let new =
            |headline: &str| Code::SharedUse.at(loc, headline).place(place, "the shared memory");
        let Some(part) = part else {
            let diagnostic = match packed {
                [false, false] => new("a product cannot read this view of shared memory")
                    .compare("", "rows and columns of one tile of the allocation", "elements in another order, or of several tiles")
                    .why("a descriptor says how far apart the rows of a tile are, and where in it the operand begins (PTX ISA, \"Matrix Descriptor Format\")"),
                [_, _] => new("a product reads numbers narrower than a byte from whole tiles, not from a view")
                    .compare("", "an allocation, or an element of a ring", "a view of another part or type")
                    .why("the layout of such numbers is that of the whole allocation (PTX ISA, \"tcgen05.mma: Packing formats used in shared memory\")"),
            };
            return self.refuse(diagnostic);
        };
        let inner = part.shape[usize::from(!part.transposed)];
        let row_bytes = inner * dtype.shared_bytes();
        if row_bytes >= DESCRIPTOR_BYTES {
            return Some(());
        }
        let diagnostic = new("a product cannot read so narrow a part of a tile").compare(
            "bytes of a row",
            format!("{DESCRIPTOR_BYTES} or more"),
            row_bytes,
        );
        self.refuse(diagnostic.why(
            "a descriptor begins at a multiple of 16 bytes (PTX ISA, \"Matrix Descriptor Format\")",
        ))
    }

    /// Reports a view in place of whole tiles of an allocation.
    pub(crate) fn whole_tiles(&mut self, shared: &SharedType, what: &str, loc: Loc) -> Option<()> {
        if shared.is_plain() {
            return Some(());
        }
        let diagnostic: Diagnostic = Code::SharedUse
            .at(loc, format!("{what} takes whole tiles of shared memory, not a view"))
            .compare("", "an allocation, or an element of a ring", "a view of another shape, part or type")
            .place(self.shared[shared.root].loc, "the shared memory")
            .why("it names bytes in the layout of the allocation's tiles; threads read and write views by `load`, `store`, `gather`, `scatter`, atomics and `copy_async` in groups");
        self.refuse(diagnostic)
    }
}

fn first_extent(shared: &SharedType) -> u32 {
    first_of(&shared.shape)
}

fn first_of(shape: &[u32]) -> u32 {
    shape.first().copied().unwrap_or(1)
}
