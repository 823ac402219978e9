//! The tile IR: what a kernel instance means, before anyone has chosen layouts or registers.
//!
//! A kernel body is a tree of regions. A region is a list of statements and a terminator; a
//! statement applies an operation to values and defines new ones, each exactly once (SSA). A value
//! is a scalar (the same in every thread of the block), a tile (spread over the threads), a pointer,
//! or a handle on shared memory. Constants are operations, so operands are always values.
//!
//! ```text
//! %0 = const 128 : i32
//! %1 = block_id 0 : i32
//! %2 = mul %1, %0 : i32
//! %3 = load_tensor x [%2] : f32[128]
//! for %4 in (%5, %6, %7) carry (%8 = %3) -> (%9) { .. continue (%10) }
//! ```
//!
//! Invariants, which [`verify()`] checks:
//! * every value is defined once, before its uses, in the same region or an enclosing one;
//! * operands of elementwise operations have the same type: `splat` and `broadcast` are explicit;
//! * tile extents are powers of two, rank is at most 5;
//! * the blocks of a cluster do not meet in a partition: a block has come when all of its threads have;
//! * a region ends in exactly one terminator, and the values it passes have the types of what receives them.

use std::collections::BTreeMap;

use la_arena::{Arena, ArenaMap, Idx};

use crate::loc::Loc;

mod blackwell;
mod bulk;
mod cluster;
mod corner;
pub mod dtype;
mod effects;
mod extents;
mod filter;
pub mod flow;
mod hopper;
mod lifetimes;
mod op;
mod partition;
mod per_thread;
mod pipelined;
mod print;
mod ranges;
mod raw_access;
mod regions;
mod report;
mod snippet;
mod sparsity;
#[cfg(test)]
pub(crate) mod tests;
mod verify;
mod view;

pub use blackwell::{
    CtaGroup, Multiplied, Scaled, Tcgen05, TensorMemory, TensorMemoryData, TensorMemoryOp,
    TensorMemoryRole, TensorMemoryType,
};
pub use bulk::{Bulk, BulkKind, BulkOperands};
pub use corner::Corner;
pub use dtype::Dtype;
pub use effects::{Access, Announcement, Blocks, By, Does, Done, Effects, Fence, Memory, Wait};
pub use extents::{Extents, merges};
pub use filter::FilterAxis;
pub use hopper::{
    BarrierData, BarrierOp, BarrierType, Barriers, BoundedAxes, ClusterOp, Evict, Fill, GridOp,
    MapOptions, Named, NamedData, NamedOp, StoreWait, Tma, TmaKind, TmaOperands, TmaReduce,
};
pub use lifetimes::Lifetimes;
pub use op::{
    Atomic, Binary, BitFunction, Compare, Const, Copied, CopyOp, Direction, ElementwiseOp, Factors,
    Funnel, MemoryOp, MemoryOrder, Op, Ordered, ProductOp, Rounding, Scope, SourceOp, SyncOp,
    TileOp, Transcendental, Unary, WindowOp, scan_source,
};
pub(crate) use partition::registers_at_entry;
pub use partition::{Crews, Partition, Placement, PlacementProblem, Specialized};
pub(crate) use pipelined::stage;
pub use pipelined::{Copier, Roots, Staged, filled, slice};
pub use print::Annotations;
pub use ranges::{Fork, Range, Ranges};
pub use raw_access::RawAccess;
pub(crate) use report::renumber;
pub use report::{Report, ReportKind, ReportOp};
pub use snippet::{Snippet, only_computes, register_type, text_touches_memory};
pub use sparsity::Sparsity;
pub use verify::verify;
pub use view::View;

/// What one element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Elem {
    /// A number or a boolean.
    Number(Dtype),
    /// An address of a `Dtype` in global memory.
    Ptr(Dtype),
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// One element, the same in every thread.
    Scalar(Elem),
    /// A tile: extents are powers of two.
    Tile(Elem, Vec<u32>),
    /// A handle on (part of) a shared allocation.
    Shared(SharedType),
    /// A handle on mbarriers.
    Barrier(BarrierType),
    /// A handle on (part of) an allocation of tensor memory.
    TensorMemory(TensorMemoryType),
    /// Already reported: silences what follows from it.
    Error,
}

/// A window of a shared allocation: one element of its leading axes, all of it, or a [`View`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SharedType {
    /// The allocation.
    pub root: Shared,
    /// Element type.
    pub dtype: Dtype,
    /// Extents of the window, in the order in which it is read (after `t()`).
    pub shape: Vec<u32>,
    /// The window is read transposed: its two axes are those of the allocation, swapped.
    pub transposed: bool,
    /// It may be that of another block of the cluster.
    pub remote: bool,
    /// Which elements of the allocation it has, if it is not whole tiles as they were made.
    pub view: Option<View>,
}

/// A value: an index into [`Kernel::values`].
pub type Value = Idx<ValueData>;
/// A shared allocation: an index into [`Kernel::shared`].
pub type Shared = Idx<SharedData>;

/// What is known of a value.
#[derive(Clone, Debug)]
pub struct ValueData {
    /// Its type.
    pub ty: Type,
    /// Where in the source it was made.
    pub loc: Loc,
}

/// A shared allocation.
#[derive(Clone, Debug)]
pub struct SharedData {
    /// Element type.
    pub dtype: Dtype,
    /// Extents; the last two (or the last one) are the tile, those before count tiles. The first of three and more may be any number.
    pub shape: Vec<u32>,
    /// A layout pinned by the user, per tile of the last two axes.
    pub pinned: Option<kernel_layout::Form>,
    /// What the source calls it: the variable, or the field of one, that held it first.
    pub name: Option<String>,
    /// Where it was made.
    pub loc: Loc,
}

/// A kernel parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: ParamKind,
    /// For a tensor with a tensor map: the extents of the block that one copy moves.
    pub block: Option<Vec<u32>>,
    /// The other options of its tensor map.
    pub map: MapOptions,
    /// Nothing is passed for it: an `Option` that is `None`. No operation names it, and the entry has no parameters for it.
    pub absent: bool,
    /// The elements are addresses of these, `Tensor<Ptr<f32>, 1>`: the tensor holds them as `u64`.
    pub points_to: Option<Dtype>,
    /// Where it stands.
    pub loc: Loc,
}

/// What a parameter is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// A tensor in global memory. ABI: pointer u64, extents i32 × rank, strides (elements) i64 × rank.
    Tensor {
        /// Element type.
        dtype: Dtype,
        /// Rank, 1 to 5.
        rank: u32,
        /// `TensorMut`.
        mutable: bool,
    },
    /// A raw pointer. ABI: u64.
    Pointer(Dtype),
    /// A scalar. ABI: its own width; `bool` as u8.
    Scalar(Dtype),
}

impl ParamKind {
    /// The type of an element, of a scalar that of the parameter itself.
    pub fn dtype(&self) -> Dtype {
        match *self {
            ParamKind::Tensor { dtype, .. }
            | ParamKind::Pointer(dtype)
            | ParamKind::Scalar(dtype) => dtype,
        }
    }

    /// How many axes a tensor has; none of what is not a tensor.
    pub fn rank(&self) -> u32 {
        match *self {
            ParamKind::Tensor { rank, .. } => rank,
            ParamKind::Pointer(_) | ParamKind::Scalar(_) => 0,
        }
    }
}

/// A fact about an argument, declared by the user or assumed by this variant; `param` is an index into [`Kernel::params`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fact {
    /// The address (of a tensor's first element, or of a pointer) is a multiple of `bytes`.
    PointerAligned {
        /// The parameter.
        param: u32,
        /// Bytes.
        bytes: u32,
    },
    /// A stride (in elements) is `value`.
    StrideEquals {
        /// The parameter.
        param: u32,
        /// The axis.
        axis: u32,
        /// The stride.
        value: i64,
    },
    /// A stride (in elements) is a multiple of `of`.
    StrideMultiple {
        /// The parameter.
        param: u32,
        /// The axis.
        axis: u32,
        /// The divisor.
        of: i64,
    },
    /// An extent is a multiple of `of`.
    DimMultiple {
        /// The parameter.
        param: u32,
        /// The axis.
        axis: u32,
        /// The divisor.
        of: i64,
    },
    /// A scalar is a multiple of `of`.
    ScalarMultiple {
        /// The parameter.
        param: u32,
        /// The divisor.
        of: i64,
    },
}

/// One instance of a kernel for one target.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The function's name.
    pub name: String,
    /// The number of the kernel's own warps; a block also has those of partitions.
    pub warps: u32,
    /// The target.
    pub target: kernel_ptx::Target,
    /// Parameters, in the order of the ABI.
    pub params: Vec<Param>,
    /// What is known of the arguments.
    pub facts: Vec<Fact>,
    /// Shared allocations.
    pub shared: Arena<SharedData>,
    /// Allocations of mbarriers.
    pub barriers: Arena<BarrierData>,
    /// Allocations of tensor memory.
    pub tensor_memory: Arena<TensorMemoryData>,
    /// Named barriers.
    pub named: Arena<NamedData>,
    /// The blocks of a cluster, on the axes of the grid.
    pub cluster: [u32; 3],
    /// Where the operands of a matrix product are written, by the place of the product; of a gather or a scatter rows, column and tile; of
    /// another TMA copy the corner, its last coordinate and the tile.
    pub operands: BTreeMap<Loc, [Loc; 3]>,
    /// Values.
    pub values: Arena<ValueData>,
    /// What it says while it runs.
    pub reports: Vec<Report>,
    /// The body. Its terminator is [`Terminator::Return`].
    pub body: Region,
}

/// A list of statements with a terminator.
#[derive(Clone, Debug, Default)]
pub struct Region {
    /// Values that the region receives each time it is entered.
    pub args: Vec<Value>,
    /// Statements, in order.
    pub stmts: Vec<Stmt>,
    /// How it ends.
    pub end: Terminator,
}

/// How a region ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Terminator {
    /// The kernel ends here for the whole block.
    #[default]
    Return,
    /// The region of an `if` or a combine function gives these values.
    Yield(Vec<Value>),
    /// The next iteration of the loop `depth` levels up (0: the innermost), with these carried values.
    Continue(u32, Vec<Value>),
    /// Leaves the loop `depth` levels up (0: the innermost), with these results.
    Break(u32, Vec<Value>),
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where in the source it comes from.
    pub loc: Loc,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// Applies an operation.
    Op {
        /// The operation, with its compile-time attributes.
        op: Op,
        /// Operands.
        args: Vec<Value>,
        /// The result, if the operation has one.
        result: Option<Value>,
    },
    /// A branch on a scalar `bool`. A branch ends in `Yield` (one value a result) or leaves a loop or the kernel.
    If {
        /// The condition.
        condition: Value,
        /// Runs if it holds.
        then: Region,
        /// Runs if it does not.
        otherwise: Region,
        /// What the branches yield.
        results: Vec<Value>,
    },
    /// A counted loop over scalars: `from, from + step, ..` while less than `to` (greater, for a negative step).
    ///
    /// `body.args` are the induction variable, then one value for each of `inits`. The body ends in `Continue(0, carried)`,
    /// or leaves. The results are the carried values at the end; `Break(0, values)` gives them directly.
    For {
        /// First value of the induction variable.
        from: Value,
        /// Bound, not reached.
        to: Value,
        /// Step; a constant unless the user computed it.
        step: Value,
        /// Carried values at the start.
        inits: Vec<Value>,
        /// The body.
        body: Region,
        /// Carried values at the end.
        results: Vec<Value>,
    },
    /// A loop that ends only by `Break`. `body.args` receive `inits`, later what `Continue` passes.
    Loop {
        /// Carried values at the start.
        inits: Vec<Value>,
        /// The body.
        body: Region,
        /// What `Break(0, ..)` passes.
        results: Vec<Value>,
    },
    /// Reduces one axis of each of the operand tiles together with a function of two values.
    ///
    /// `combine.args` are scalars: one accumulated value per operand, then one new value per operand; it yields one value per operand.
    /// The function is taken to be associative and commutative.
    Reduce {
        /// Tiles of one shape.
        args: Vec<Value>,
        /// The axis that is reduced.
        axis: u32,
        /// The function of two values.
        combine: Region,
        /// Tiles without the axis (scalars, if the operand had rank 1).
        results: Vec<Value>,
    },
    /// Replaces each element along one axis by all up to it, combined with a function of two values: an inclusive scan.
    ///
    /// `combine` is as in `Reduce`, and need not be commutative. Elements are combined in the tree of [`scan_source`], so that the
    /// result is the same, bit for bit, in every layout.
    ///
    /// With initial values the scan is exclusive: the first element becomes the initial value, and each other one the initial value
    /// combined with the result of the inclusive scan at the element before it.
    Scan {
        /// Tiles of one shape.
        args: Vec<Value>,
        /// The axis of the scan.
        axis: u32,
        /// The end that it begins at.
        direction: Direction,
        /// A scalar for each operand, or none.
        initial: Vec<Value>,
        /// The function of two values: what comes before, and the element.
        combine: Region,
        /// Tiles of the operands' types.
        results: Vec<Value>,
    },
    /// Runs instructions that the user wrote out in every thread: once, or once for each element that a thread holds where
    /// operands or results are tiles.
    ///
    /// What they do is not known: they keep their place among each other and among everything that touches memory or
    /// synchronises, and run whether or not the results are used. If several threads hold one element, each may have its own
    /// result.
    Ptx {
        /// The instructions.
        code: Box<Snippet>,
        /// Scalars, and tiles of one shape.
        args: Vec<Value>,
        /// All scalars, or all tiles of that shape.
        results: Vec<Value>,
    },
    /// Runs parts of the kernel at the same time, each in warps of its own. It stands in the kernel's body, once at most.
    ///
    /// Everything else in the body runs in the kernel's own warps, as the default partition does; the others wait until it is
    /// reached, and end with their part. What follows waits for all of them.
    Specialize {
        /// Runs in the kernel's own warps, and yields the results.
        default: Region,
        /// The other partitions; their bodies yield nothing, and use no tiles from outside.
        partitions: Vec<Partition>,
        /// What the default partition yields.
        results: Vec<Value>,
    },
}

impl Region {
    /// Replaces each statement by those that `with` adds to its list.
    pub fn replace_each(&mut self, mut with: impl FnMut(Stmt, &mut Vec<Stmt>)) {
        let mut out = Vec::with_capacity(self.stmts.len());
        for stmt in std::mem::take(&mut self.stmts) {
            with(stmt, &mut out);
        }
        self.stmts = out;
    }
}

/// The layout of every tile value, chosen by inference.
pub type Layouts = ArenaMap<Value, kernel_layout::Layout>;

impl Kernel {
    /// The type of a value.
    pub fn ty(&self, value: Value) -> &Type {
        &self.values[value].ty
    }

    /// What the source calls memory or barriers, in backticks, if it has a name for the allocation.
    pub fn called(&self, value: Value) -> Option<String> {
        let (name, view) = match self.ty(value) {
            Type::Shared(window) => (&self.shared[window.root].name, window.view.is_some()),
            Type::Barrier(barrier) => (&self.barriers[barrier.root].name, false),
            Type::TensorMemory(window) => {
                let data = &self.tensor_memory[window.root];
                let whole = data.of.map_or(data, |whole| &self.tensor_memory[whole]);
                (&whole.name, data.of.is_some())
            }
            Type::Scalar(_) | Type::Tile(..) | Type::Error => return None,
        };
        let name = name.as_ref()?;
        Some(if view { format!("a view of `{name}`") } else { format!("`{name}`") })
    }
}

impl Type {
    /// That of a window of shared memory.
    pub fn shared(&self) -> Option<&SharedType> {
        if let Type::Shared(window) = self { Some(window) } else { None }
    }

    /// That of mbarriers.
    pub fn barrier(&self) -> Option<&BarrierType> {
        if let Type::Barrier(barrier) = self { Some(barrier) } else { None }
    }

    /// That of a window of tensor memory.
    pub fn tensor_memory(&self) -> Option<&TensorMemoryType> {
        if let Type::TensorMemory(window) = self { Some(window) } else { None }
    }

    /// The element, of a scalar or a tile.
    pub fn elem(&self) -> Option<Elem> {
        match self {
            Type::Scalar(elem) | Type::Tile(elem, _) => Some(*elem),
            Type::Shared(_) | Type::Barrier(_) | Type::TensorMemory(_) | Type::Error => None,
        }
    }

    /// The extents: none of a scalar.
    pub fn shape(&self) -> &[u32] {
        match self {
            Type::Tile(_, shape) => shape,
            Type::Shared(shared) => &shared.shape,
            Type::TensorMemory(window) => &window.shape,
            Type::Scalar(_) | Type::Barrier(_) | Type::Error => &[],
        }
    }

    /// A scalar of a number type.
    pub fn scalar(dtype: Dtype) -> Type {
        Type::Scalar(Elem::Number(dtype))
    }

    /// The same extents with another element; a scalar stays one.
    #[must_use]
    pub fn with_elem(&self, elem: Elem) -> Type {
        match self {
            Type::Scalar(_) => Type::Scalar(elem),
            Type::Tile(_, shape) => Type::Tile(elem, shape.clone()),
            Type::Shared(_) | Type::Barrier(_) | Type::TensorMemory(_) | Type::Error => Type::Error,
        }
    }
}
