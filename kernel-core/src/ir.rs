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
mod class;
mod cluster;
pub mod dtype;
mod effects;
pub mod flow;
mod hopper;
mod partition;
mod per_thread;
mod pipelined;
mod print;
mod raw_access;
mod regions;
mod snippet;
#[cfg(test)]
pub(crate) mod tests;
mod verify;

pub use blackwell::{
    CtaGroup, Scaled, Tcgen05, TensorMemory, TensorMemoryData, TensorMemoryOp, TensorMemoryRole,
    TensorMemoryType,
};
pub use bulk::{Bulk, BulkKind, BulkOperands};
pub use class::Class;
pub use dtype::Dtype;
pub use effects::{Access, Announcement, By, Does, Done, Effects, Fence, Memory, Wait};
pub use hopper::{
    BarrierData, BarrierOp, BarrierType, Barriers, ClusterOp, Evict, Fill, GridOp, MapOptions,
    Named, NamedData, NamedOp, StoreWait, Tma, TmaKind, TmaOperands, TmaReduce,
};
pub use partition::{Crews, Partition, Placement, PlacementProblem, Specialized};
pub use pipelined::Staged;
pub use print::Annotations;
pub use raw_access::RawAccess;
pub use snippet::{Snippet, register_type, text_touches_memory};
pub use verify::verify;

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

/// A window of a shared allocation: one element of its leading axes, or all of it.
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
    /// Extents; the last two (or the last one) are the tile, leading ones a ring of tiles.
    pub shape: Vec<u32>,
    /// A layout pinned by the user, per tile of the last two axes.
    pub pinned: Option<kernel_layout::Form>,
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
    /// Of a tensor that is reached by tensor map: the extents of the block that one copy moves.
    pub block: Option<Vec<u32>>,
    /// What else is said of its tensor map.
    pub map: MapOptions,
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

    /// How many axes a tensor has; none of what is no tensor.
    pub fn rank(&self) -> u32 {
        match *self {
            ParamKind::Tensor { rank, .. } => rank,
            ParamKind::Pointer(_) | ParamKind::Scalar(_) => 0,
        }
    }
}

/// Something known of an argument, declared by the user or assumed by this variant; `param` is an index into [`Kernel::params`].
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
    /// The kernel's own warps, of which it says how many; a block has those of partitions beside them.
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
    /// Where the operands of a matrix product are written, by the place of the product; of a gather or a scatter rows, column and tile.
    pub operands: BTreeMap<Loc, [Loc; 3]>,
    /// Values.
    pub values: Arena<ValueData>,
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
        /// Runs where it holds.
        then: Region,
        /// Runs where it does not.
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
        /// The axis that goes.
        axis: u32,
        /// The function of two values.
        combine: Region,
        /// Tiles without the axis (scalars, where the operand had rank 1).
        results: Vec<Value>,
    },
    /// Replaces each element along one axis by all up to it, combined with a function of two values: an inclusive scan.
    ///
    /// `combine` is as in `Reduce`, and need not be commutative. Elements are combined in the tree of [`scan_source`], so that the
    /// result is the same, bit for bit, in every layout.
    Scan {
        /// Tiles of one shape.
        args: Vec<Value>,
        /// The axis that is walked.
        axis: u32,
        /// The function of two values: what comes before, and the element.
        combine: Region,
        /// Tiles of the operands' types.
        results: Vec<Value>,
    },
    /// Runs instructions that the user wrote out in every thread: once, or once for each element that a thread holds where
    /// operands or results are tiles.
    ///
    /// What they do is not known: they keep their place among each other and among everything that touches memory or
    /// synchronises, and run whether or not the results are used. Where several threads hold one element, each may have its own
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

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Const {
    /// `true` or `false`.
    Bool(bool),
    /// An integer; within the range of its type.
    Int(i128),
    /// A float, exact in its type.
    Float(f64),
}

/// Elementwise operations on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// Arithmetic negation.
    Neg,
    /// Bitwise (integers) or logical (`bool`) not.
    Not,
    /// Absolute value.
    Abs,
    /// e to the x.
    Exp,
    /// 2 to the x.
    Exp2,
    /// Natural logarithm.
    Log,
    /// Logarithm to base 2.
    Log2,
    /// Square root, correctly rounded.
    Sqrt,
    /// One over the square root.
    Rsqrt,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Hyperbolic tangent.
    Tanh,
    /// Towards minus infinity.
    Floor,
    /// Towards plus infinity.
    Ceil,
}

impl Unary {
    /// Whether the hardware approximates it, in 32 bits and less: there is no instruction for `f64`.
    pub fn is_approximate(self) -> bool {
        match self {
            Unary::Exp
            | Unary::Exp2
            | Unary::Log
            | Unary::Log2
            | Unary::Sin
            | Unary::Cos
            | Unary::Tanh => true,
            Unary::Neg
            | Unary::Not
            | Unary::Abs
            | Unary::Sqrt
            | Unary::Rsqrt
            | Unary::Floor
            | Unary::Ceil => false,
        }
    }
}

/// Elementwise operations on two operands of one type. `Add` and `Sub` also take a pointer and an integer (in elements).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    /// `a + b`; integers wrap.
    Add,
    /// `a - b`; integers wrap.
    Sub,
    /// `a * b`; integers wrap.
    Mul,
    /// `a / b`; integers truncate towards zero; floats are correctly rounded.
    Div,
    /// `a % b`, the sign of `a`.
    Rem,
    /// `a & b`
    And,
    /// `a | b`
    Or,
    /// `a ^ b`
    Xor,
    /// `a << b`; `b` is taken modulo the width.
    Shl,
    /// `a >> b`, arithmetic for signed types; `b` is taken modulo the width.
    Shr,
    /// The smaller; a NaN loses.
    Min,
    /// The larger; a NaN loses.
    Max,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    /// `a < b`
    Lt,
    /// `a <= b`
    Le,
    /// `a > b`
    Gt,
    /// `a >= b`
    Ge,
    /// `a == b`
    Eq,
    /// `a != b` (true for NaN)
    Ne,
}

/// Read-modify-write operations on global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Atomic {
    /// Adds.
    Add,
    /// The larger stays.
    Max,
    /// The smaller stays.
    Min,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Swaps.
    Exchange,
    /// Operands: address, current, new. Stores `new` where memory holds `current`.
    CompareExchange,
}

/// An operation with its compile-time attributes, in the families of the language.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Gives a value of the launch, or one that the text holds.
    Source(SourceOp),
    /// Gives a tile the elements of its operands, in other places.
    Tile(TileOp),
    /// Computes each element from those at its place in the operands: scalars and tiles.
    Elementwise(ElementwiseOp),
    /// Accesses global or shared memory by the threads of the block, at once.
    Memory(MemoryOp),
    /// Copies that complete later, and waits for them.
    Copy(CopyOp),
    /// Orders threads, blocks and grids.
    Sync(SyncOp),
    /// Multiplies matrices.
    Product(ProductOp),
    /// An operation on tensor memory.
    TensorMemory(TensorMemoryOp),
    /// Stops the kernel if the condition (operand 0: scalar or tile of `bool`) fails anywhere.
    Assert(String),
}

/// Gives a value of the launch, or one that the text holds.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceOp {
    /// A constant scalar; its type is the result's.
    Const(Const),
    /// The address of a tensor's first element, or the value of a pointer parameter.
    ParamPtr(u32),
    /// An extent of a tensor parameter: `i32`.
    ParamDim(u32, u32),
    /// A stride of a tensor parameter, in elements: `i64`.
    ParamStride(u32, u32),
    /// The value of a scalar parameter.
    ParamScalar(u32),
    /// The block's coordinate on an axis of the grid: `i32`.
    BlockId(u32),
    /// The grid's extent on an axis: `i32`.
    NumBlocks(u32),
    /// `lo, lo + 1, ..` as a tile of rank 1; its extent is the result's.
    Arange(i32),
}

/// Gives a tile the elements of its operands, in other places.
#[derive(Clone, Debug, PartialEq)]
pub enum TileOp {
    /// One scalar in every element.
    Splat,
    /// A tile of which some extents are 1 (same rank), repeated to the result's shape.
    Broadcast,
    /// A new axis of extent 1.
    Expand(u32),
    /// Another shape with as many elements, in row-major order.
    Reshape,
    /// Axes in another order: result axis `i` is operand axis `order[i]`.
    Permute(Vec<u32>),
    /// Two tiles of one type, paired along a new last axis of extent 2.
    Join,
    /// The elements of a tile at one index (0 or 1) of its last axis, which has extent 2 and goes.
    Split(u32),
    /// The same values in a layout that the user pinned.
    ToLayout(kernel_layout::Form),
    /// The same values, which the user asserts to have this layout already. Inference makes it [`TileOp::ToLayout`].
    AssertLayout(kernel_layout::Form),
}

/// Computes each element from those at its place in the operands.
#[derive(Clone, Debug, PartialEq)]
pub enum ElementwiseOp {
    /// One operand.
    Unary(Unary),
    /// Two operands.
    Binary(Binary),
    /// A comparison: `bool` result.
    Compare(Compare),
    /// `mask ? a : b`.
    Select,
    /// `a * b + c`, rounded once.
    Fma,
    /// Conversion to the result's element type. Floats round to nearest even; float to integer truncates and saturates, NaN gives 0, as Rust's `as`.
    Cast,
}

/// Accesses global or shared memory by the threads of the block, at once; and windows of shared memory.
#[derive(Clone, Debug, PartialEq)]
pub enum MemoryOp {
    /// Reads a tile of a tensor at the operands' offsets (one `i32` per axis). Outside the tensor: zero.
    LoadTensor(u32),
    /// Writes the last operand at the offsets given by the others. Outside the tensor: dropped.
    StoreTensor(u32),
    /// Reads the addresses in operand 0; with `masked`, operand 1 is a mask and operand 2 the value elsewhere.
    LoadPtr {
        /// With mask and other.
        masked: bool,
    },
    /// Writes operand 1 to the addresses in operand 0; with `masked`, operand 2 is a mask.
    StorePtr {
        /// With mask.
        masked: bool,
    },
    /// Read-modify-write of the addresses in operand 0; the result is the old value.
    /// On a tile each element is done once; on a scalar one thread does it for the block.
    Atomic(Atomic),
    /// A shared allocation. Contents are undefined.
    SharedAlloc(Shared),
    /// Operand 0 without its leading axis, at the index in operand 1 (`i32`).
    SharedIndex,
    /// Operand 0 read with its two axes swapped.
    SharedTranspose,
    /// The window that another block of the cluster has at the same place: operand 0, and the rank of the block in operand 1 (`i32`).
    SharedRemote,
    /// Reads the whole window into registers.
    LoadShared,
    /// Writes a tile (operand 1) to the window (operand 0).
    StoreShared,
}

/// Copies that complete later, and waits for them.
#[derive(Clone, Debug, PartialEq)]
pub enum CopyOp {
    /// Writes a tile (operand 1) to a window of another block (operand 0), and goes on; the barrier (operand 2) that the other block
    /// has counts the bytes.
    StoreAsync,
    /// Starts a copy of a tensor's tile (offsets: all operands but the last) into a shared window (the last operand). Outside the tensor: zero.
    Async(u32),
    /// Closes the group of copies that were started since the last one.
    Commit,
    /// Waits until at most `n` groups of this thread are pending.
    Wait(u32),
    /// Waits for all copies of this thread.
    WaitAll,
    /// Ends the copies at the start of an iteration of a loop that is pipelined in so many stages: they are there for every thread.
    /// The schedule puts waits in its place.
    Staged(u32),
    /// Starts a TMA copy.
    Tma(Tma),
    /// Starts a copy of contiguous bytes.
    Bulk(Bulk),
    /// Waits until at most `pending` TMA and bulk stores are in flight; then every thread of the partition goes on.
    BulkWait {
        /// How many of the last stores may go on.
        pending: u32,
        /// What it waits for.
        until: StoreWait,
    },
}

/// Orders threads, blocks and grids.
#[derive(Clone, Debug, PartialEq)]
pub enum SyncOp {
    /// Every thread of the block waits for the others, and sees their writes.
    Block,
    /// What the threads of the partition have written to shared memory is there for tensor maps and tensor cores.
    FenceAsync,
    /// An operation on mbarriers.
    Barrier(BarrierOp),
    /// The warps of the partition meet others at a named barrier.
    Named(NamedOp, Named),
    /// An operation of the cluster.
    Cluster(ClusterOp),
    /// The order between grids.
    Grid(GridOp),
}

/// Multiplies matrices.
#[derive(Clone, Debug, PartialEq)]
pub enum ProductOp {
    /// `a · b + acc`: (m, k) · (k, n) + (m, n). Operands 0 and 1 are tiles.
    Dot {
        /// Round `f32` operands to tf32 and use the tensor cores.
        tf32: bool,
    },
    /// `a · b + acc` by warpgroups: (m, k) · (k, n) + (m, n). Operand 0 is a tile or a shared window, operand 1 a shared window.
    ///
    /// The result is in flight until a [`ProductOp::WgmmaWait`].
    Wgmma,
    /// The tile in operand 0, when at most so many later products are in flight.
    WgmmaWait(u32),
    /// A `tcgen05` operation.
    Tcgen05(Tcgen05),
}

macro_rules! families {
    ($($family:ident($ops:ty)),*) => {
        $(impl From<$ops> for Op {
            fn from(op: $ops) -> Op {
                Op::$family(op)
            }
        })*
    };
}

families!(
    Source(SourceOp),
    Tile(TileOp),
    Elementwise(ElementwiseOp),
    Memory(MemoryOp),
    Copy(CopyOp),
    Sync(SyncOp),
    Product(ProductOp),
    TensorMemory(TensorMemoryOp)
);

/// Which element a scan combines in front of the one at `position`, in step `step`; none where that step leaves it alone.
///
/// A scan of `2^n` elements takes the steps `0..n`. Before step `k` each run of `2^k` elements is scanned by itself; the step joins
/// neighbouring runs in pairs, by combining the last element of the first run with each of the second.
///
/// Of eight elements, the last is `((x0 x1) (x2 x3)) ((x4 x5) (x6 x7))` and the one before `((x0 x1) (x2 x3)) ((x4 x5) x6)`.
pub fn scan_source(step: u32, position: u32) -> Option<u32> {
    let run = position >> step;
    (run & 1 == 1).then(|| (run << step) - 1)
}

impl Region {
    /// Puts in the place of each statement those that `with` adds to the list that it gets.
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
