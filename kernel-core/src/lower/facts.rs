//! What is known of values before any code is emitted: what [`analyze`] found, and which offsets stay inside a tensor.

use la_arena::ArenaMap;

use crate::ir::{
    Announcement, Dtype, Elem, ElementwiseOp, Kernel, Memory, MemoryOp, Op, Range, Ranges, Region,
    SourceOp, StmtKind, TileOp, Value, Wait,
};
use crate::layouts::{Axis, Known, Subject, analyze, log2_fact, stride};

/// A counted loop, by its induction variable.
#[derive(Clone, Copy, Debug)]
struct Induction {
    from: Value,
    to: Value,
    step: Value,
}

/// The facts of a kernel.
#[derive(Debug)]
pub(crate) struct Facts<'a> {
    kernel: &'a Kernel,
    known: Known,
    inductions: ArenaMap<Value, Induction>,
    dims: ArenaMap<Value, (u32, u32)>,
    /// How tiles are computed from others, element by element.
    computed: ArenaMap<Value, (&'a ElementwiseOp, &'a [Value])>,
    /// The scalars that all elements of a tile are.
    splats: ArenaMap<Value, Value>,
    /// Of kernels that access shared memory or tiles by index, or convert integers to `bf16`; of others what the types say.
    ranges: Ranges<'a>,
    /// Whether the launch keeps other writers away from the tensors that are read: what is written are tensors that it checks for overlap, and
    /// no other grid runs beside this one.
    writes_checked: bool,
}

impl<'a> Facts<'a> {
    /// The facts of every value of a kernel.
    pub(crate) fn of(kernel: &'a Kernel) -> Self {
        let mut facts = Facts {
            kernel,
            known: analyze(kernel),
            inductions: ArenaMap::new(),
            dims: ArenaMap::new(),
            computed: ArenaMap::new(),
            splats: ArenaMap::new(),
            ranges: ranges(kernel),
            writes_checked: writes_checked(kernel),
        };
        facts.region(&kernel.body);
        kernel.body.each_op(&mut |op, args, result, _| {
            let Some(result) = result else { return };
            if let Op::Elementwise(op) = op {
                facts.computed.insert(result, (op, args));
            } else if *op == Op::Tile(TileOp::Splat) {
                facts.splats.insert(result, args[0]);
            }
        });
        facts
    }

    /// The elementwise operation that a value is the result of, and its operands.
    pub(crate) fn computed(&self, value: Value) -> Option<(&'a ElementwiseOp, &'a [Value])> {
        self.computed.get(value).copied()
    }

    /// The number that a scalar or all elements of a tile are.
    pub(crate) fn constant(&self, value: Value) -> Option<i128> {
        self.known.constant(self.splats.get(value).copied().unwrap_or(value))
    }

    /// The type of a number or of the elements of a tile.
    pub(crate) fn elem(&self, value: Value) -> Option<Elem> {
        self.kernel.ty(value).elem()
    }

    /// Whether nothing writes a tensor while the kernel runs, so that it can be read as constant memory (PTX ISA, "ld.global.nc").
    pub(crate) fn is_constant(&self, param: u32) -> bool {
        self.writes_checked && self.kernel.is_only_read(param)
    }

    /// What was found out of every value.
    pub(crate) fn known(&self) -> &Known {
        &self.known
    }

    /// What is known along an axis of a tile.
    pub(crate) fn axis(&self, tile: Value, axis: usize) -> Axis {
        self.known.axis(tile, axis)
    }

    /// A power of two that divides a scalar.
    pub(crate) fn divisor(&self, value: Value) -> u64 {
        1 << self.known.log2_multiple(value)
    }

    /// A power of two that divides the address of a parameter.
    pub(crate) fn pointer(&self, param: u32) -> u64 {
        self.declared(Subject::Pointer(param))
    }

    /// A stride that is known exactly.
    pub(crate) fn stride(&self, param: u32, axis: u32) -> Option<i64> {
        stride(self.kernel, param, axis)
    }

    /// A power of two that divides a stride.
    pub(crate) fn stride_divisor(&self, param: u32, axis: u32) -> u64 {
        self.declared(Subject::Stride(param, axis))
    }

    /// A power of two that divides an extent.
    pub(crate) fn dim_divisor(&self, param: u32, axis: u32) -> u64 {
        self.declared(Subject::Dim(param, axis))
    }

    fn declared(&self, subject: Subject) -> u64 {
        1 << log2_fact(self.kernel, subject)
    }

    /// Whether `offset .. offset + extent` is inside axis `axis` of parameter `param` whatever happens: the
    /// offset counts from at least 0 up to that very extent, and everything is a multiple of `extent`.
    pub(crate) fn inside(&self, offset: Value, extent: u32, param: u32, axis: u32) -> bool {
        let extent = u64::from(extent);
        let Some(&Induction { from, to, step }) = self.inductions.get(offset) else { return false };
        let constant = |value| self.known.constant(value);
        constant(from).is_some_and(|from| from >= 0)
            && constant(step).is_some_and(|step| step > 0)
            && self.divisor(offset) >= extent
            && self.dims.get(to) == Some(&(param, axis))
            && self.dim_divisor(param, axis) >= extent
    }

    /// Whether a slice from the one position up to the other is all of axis `axis` of parameter `param`.
    pub(crate) fn is_whole(&self, [first, end]: [Value; 2], param: u32, axis: u32) -> bool {
        self.known.constant(first) == Some(0) && self.dims.get(end) == Some(&(param, axis))
    }

    /// Whether every element of a tile of indices is less than `extent`, and not negative, as the text proves.
    pub(crate) fn proves_index(&self, index: Value, extent: u32) -> bool {
        self.proves_range(index, Range { least: 0, most: i128::from(extent) - 1 })
    }

    /// Whether an integer, or every element of a tile of these, is in a range, as the text proves.
    pub(crate) fn proves_range(&self, value: Value, inside: Range) -> bool {
        self.ranges.at(self.kernel, value, &[]).is_some_and(|range| inside.holds(range))
    }

    /// Notes the loops and the extents of a region.
    fn region(&mut self, region: &Region) {
        region.each_stmt(&mut |stmt| {
            if let StmtKind::Op {
                op: Op::Source(SourceOp::ParamDim(param, axis)), result, ..
            } = &stmt.kind
            {
                self.dims.extend(result.map(|result| (result, (*param, *axis))));
            } else if let StmtKind::For { from, to, step, body, .. } = &stmt.kind {
                let induction = Induction { from: *from, to: *to, step: *step };
                self.inductions.insert(body.args[0], induction);
            }
        });
    }
}

/// The ranges of the integers of a kernel in which something depends on them.
fn ranges(kernel: &Kernel) -> Ranges<'_> {
    let mut extents = Vec::new();
    let mut converts = false;
    let number = |value, of: fn(Dtype) -> bool| matches!(kernel.ty(value).elem(), Some(Elem::Number(dtype)) if of(dtype));
    kernel.body.each_op(&mut |op, args, result, _| {
        converts |= matches!(op, Op::Elementwise(ElementwiseOp::Cast))
            && number(args[0], |dtype| dtype.is_int() && dtype.bytes() >= 4)
            && result.is_some_and(|result| number(result, |dtype| dtype == Dtype::Bf16));
        if let Op::Memory(
            MemoryOp::GatherShared | MemoryOp::ScatterShared | MemoryOp::AtomicShared(_),
        ) = op
        {
            extents.extend(kernel.ty(args[0]).shape());
        } else if let Op::Tile(TileOp::Gather(axis)) = op {
            extents.push(kernel.ty(args[0]).shape()[*axis as usize]);
        } else if let (Op::Tile(TileOp::Histogram), Some(result)) = (op, result) {
            extents.extend(kernel.ty(result).shape());
        }
    });
    let needed = converts || !extents.is_empty();
    if needed { Ranges::of(kernel, &extents) } else { Ranges::default() }
}

/// Whether all that a kernel writes in global memory are tensors, while no other grid runs beside it.
fn writes_checked(kernel: &Kernel) -> bool {
    let mut checked = true;
    kernel.body.each_stmt(&mut |stmt| match &stmt.kind {
        StmtKind::Op { op, args, result } => {
            let effects = kernel.effects(op, args, *result);
            let by_address =
                effects.writes().any(|access| matches!(access.memory, Memory::Address(_)));
            let beside_others = effects.announces == Some(Announcement::NextGrid)
                || effects.waits.contains(&Wait::Grids);
            checked &= !by_address && !beside_others;
        }
        StmtKind::Ptx { .. } => checked = false,
        StmtKind::If { .. }
        | StmtKind::For { .. }
        | StmtKind::Loop { .. }
        | StmtKind::Reduce { .. }
        | StmtKind::Scan { .. }
        | StmtKind::Specialize { .. } => {}
    });
    checked
}
