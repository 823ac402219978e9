//! The operations of the IR, in families.

use kernel_ptx::{Capability, Target};

use super::dtype::{Class, Float};
use super::{
    BarrierOp, Bulk, ClusterOp, Dtype, Evict, Extents, GridOp, Named, NamedOp, ReportOp, Scaled,
    Shared, StoreWait, Tcgen05, TensorMemoryOp, Tma,
};

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

/// An enum whose variants have names in dumps.
macro_rules! named {
    ($(#[$doc:meta])* $enum:ident { $($(#[$what:meta])* $variant:ident $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $enum {
            $($(#[$what])* $variant,)*
        }

        impl $enum {
            /// The name in dumps.
            pub const fn name(self) -> &'static str {
                match self {
                    $($enum::$variant => $name,)*
                }
            }
        }
    };
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
    /// Square root, correctly rounded.
    Sqrt,
    /// One over the square root.
    Rsqrt,
    /// The integral value near it.
    Round(Rounding),
    /// Of the bits of an integer.
    Bits(BitFunction),
    /// Computed in 32 bits and less, not for `f64`.
    Transcendental(Transcendental),
}

named! {
    /// Which integral value a float is rounded to.
    Rounding {
        /// Towards minus infinity.
        Floor "floor",
        /// Towards plus infinity.
        Ceil "ceil",
        /// Towards zero.
        Trunc "trunc",
        /// To the nearest, ties away from zero.
        HalfAway "round",
        /// To the nearest, ties to the even one.
        HalfEven "round_ties_even",
    }
}

named! {
    /// Functions of the bits of an integer.
    BitFunction {
        /// How many bits are set.
        CountOnes "count_ones",
        /// How many bits above the highest that is set; all of them for 0.
        LeadingZeros "leading_zeros",
        /// The lowest bit becomes the highest.
        ReverseBits "reverse_bits",
    }
}

named! {
    /// Which end of two words side by side a funnel shift gives.
    Funnel {
        /// The high word of them shifted to the left.
        Left "funnel_shl",
        /// The low word of them shifted to the right.
        Right "funnel_shr",
    }
}

named! {
    /// Functions of floats that no one instruction computes exactly. Those that end in `Approx` are what the hardware has; the
    /// others are within two units in the last place.
    Transcendental {
        /// e to the x.
        Exp "exp",
        /// e to the x, less 1.
        ExpM1 "exp_m1",
        /// 2 to the x.
        Exp2 "exp2",
        /// Natural logarithm.
        Ln "ln",
        /// Natural logarithm of 1 + x.
        Ln1p "ln_1p",
        /// Logarithm to base 2.
        Log2 "log2",
        /// Logarithm to base 10.
        Log10 "log10",
        /// Sine.
        Sin "sin",
        /// Cosine.
        Cos "cos",
        /// Hyperbolic tangent.
        Tanh "tanh",
        /// The error function.
        Erf "erf",
        /// 1 less the error function.
        Erfc "erfc",
        /// Cube root.
        Cbrt "cbrt",
        /// e to the x by a product and a power of 2.
        ExpApprox "exp_approx",
        /// 2 to the x; subnormal numbers are 0.
        Exp2Approx "exp2_approx",
        /// Natural logarithm by a logarithm to base 2 and a product.
        LnApprox "ln_approx",
        /// Logarithm to base 2.
        Log2Approx "log2_approx",
        /// Sine.
        SinApprox "sin_approx",
        /// Cosine.
        CosApprox "cos_approx",
        /// Hyperbolic tangent.
        TanhApprox "tanh_approx",
    }
}

impl Transcendental {
    /// The function that the hardware's approximates; none for those with a stated error.
    pub fn approximated(self) -> Option<Transcendental> {
        match self {
            Transcendental::ExpApprox => Some(Transcendental::Exp),
            Transcendental::Exp2Approx => Some(Transcendental::Exp2),
            Transcendental::LnApprox => Some(Transcendental::Ln),
            Transcendental::Log2Approx => Some(Transcendental::Log2),
            Transcendental::SinApprox => Some(Transcendental::Sin),
            Transcendental::CosApprox => Some(Transcendental::Cos),
            Transcendental::TanhApprox => Some(Transcendental::Tanh),
            Transcendental::Exp
            | Transcendental::ExpM1
            | Transcendental::Exp2
            | Transcendental::Ln
            | Transcendental::Ln1p
            | Transcendental::Log2
            | Transcendental::Log10
            | Transcendental::Sin
            | Transcendental::Cos
            | Transcendental::Tanh
            | Transcendental::Erf
            | Transcendental::Erfc
            | Transcendental::Cbrt => None,
        }
    }
}

impl Rounding {
    /// The integral value that a number is rounded to.
    pub fn of(self, value: f64) -> f64 {
        match self {
            Rounding::Floor => value.floor(),
            Rounding::Ceil => value.ceil(),
            Rounding::Trunc => value.trunc(),
            Rounding::HalfAway => value.round(),
            Rounding::HalfEven => value.round_ties_even(),
        }
    }
}

impl From<Transcendental> for Unary {
    fn from(function: Transcendental) -> Unary {
        Unary::Transcendental(function)
    }
}

impl From<Rounding> for Unary {
    fn from(rounding: Rounding) -> Unary {
        Unary::Round(rounding)
    }
}

impl From<BitFunction> for Unary {
    fn from(function: BitFunction) -> Unary {
        Unary::Bits(function)
    }
}

impl Unary {
    /// The name in dumps.
    pub const fn name(self) -> &'static str {
        match self {
            Unary::Neg => "neg",
            Unary::Not => "not",
            Unary::Abs => "abs",
            Unary::Sqrt => "sqrt",
            Unary::Rsqrt => "rsqrt",
            Unary::Round(rounding) => rounding.name(),
            Unary::Bits(function) => function.name(),
            Unary::Transcendental(function) => function.name(),
        }
    }
}

named! {
    /// Elementwise operations on two operands of one type. `Add` and `Sub` also take a pointer and an integer (in elements).
    Binary {
        /// `a + b`; integers wrap.
        Add "add",
        /// `a - b`; integers wrap.
        Sub "sub",
        /// `a * b`; integers wrap.
        Mul "mul",
        /// `a / b`; integers truncate towards zero; floats are correctly rounded.
        Div "div",
        /// `a % b`, the sign of `a`.
        Rem "rem",
        /// `a & b`
        And "and",
        /// `a | b`
        Or "or",
        /// `a ^ b`
        Xor "xor",
        /// `a << b`; `b` is taken modulo the width.
        Shl "shl",
        /// `a >> b`, arithmetic for signed types; `b` is taken modulo the width.
        Shr "shr",
        /// The smaller; a NaN loses.
        Min "min",
        /// The larger; a NaN loses.
        Max "max",
        /// The high half of the product of two integers.
        MulHi "mul_hi",
        /// The magnitude of `a` with the sign of `b`.
        Copysign "copysign",
        /// `a` to the power of `b`.
        Powf "powf",
    }
}

named! {
    /// Comparisons.
    Compare {
        /// `a < b`
        Lt "lt",
        /// `a <= b`
        Le "le",
        /// `a > b`
        Gt "gt",
        /// `a >= b`
        Ge "ge",
        /// `a == b`
        Eq "eq",
        /// `a != b` (true for NaN)
        Ne "ne",
    }
}

named! {
    /// Read-modify-write operations on memory.
    Atomic {
        /// Adds.
        Add "add",
        /// The larger stays.
        Max "max",
        /// The smaller stays.
        Min "min",
        /// Bitwise and.
        And "and",
        /// Bitwise or.
        Or "or",
        /// Bitwise exclusive or.
        Xor "xor",
        /// Swaps.
        Exchange "exchange",
        /// Operands: address, current, new. Stores `new` if memory holds `current`.
        CompareExchange "compare_exchange",
        /// Reads; of windows of tensors alone.
        Load "load",
        /// Writes; of windows of tensors alone.
        Store "store",
    }
}

named! {
    /// What an atomic operation orders, beside itself: what the threads of its crew access before and after it.
    MemoryOrder {
        /// Nothing.
        Relaxed "relaxed",
        /// Who reads a value sees what was written before it was.
        Acquire "acquire",
        /// What was written before is seen by who reads the value.
        Release "release",
        /// Both.
        AcquireRelease "acq_rel",
    }
}

impl MemoryOrder {
    /// Whether accesses after the operation see what others wrote before theirs.
    pub const fn acquires(self) -> bool {
        matches!(self, MemoryOrder::Acquire | MemoryOrder::AcquireRelease)
    }

    /// Whether others see the accesses before the operation.
    pub const fn releases(self) -> bool {
        matches!(self, MemoryOrder::Release | MemoryOrder::AcquireRelease)
    }
}

named! {
    /// Whose accesses an atomic operation is one step for, and is ordered with (PTX ISA, "Scope").
    Scope {
        /// The threads of the device.
        Gpu "gpu_scope",
        /// Those of all devices, and of the host.
        System "system_scope",
    }
}

/// How an atomic operation takes part in the order of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ordered {
    /// What it orders.
    pub order: MemoryOrder,
    /// With whom.
    pub scope: Scope,
}

impl Ordered {
    /// One step for the threads of the device, which orders nothing else.
    pub const RELAXED: Ordered = Ordered { order: MemoryOrder::Relaxed, scope: Scope::Gpu };

    /// What differs from [`RELAXED`](Self::RELAXED) in dumps, each after a space.
    pub(crate) fn printed(self) -> String {
        let order = (self.order != MemoryOrder::Relaxed).then(|| format!(" {}", self.order.name()));
        let scope = (self.scope != Scope::Gpu).then(|| format!(" {}", self.scope.name()));
        order.unwrap_or_default() + &scope.unwrap_or_default()
    }
}

impl Scope {
    /// What is behind the name of an operation at addresses, in the language and in dumps.
    pub(crate) const fn suffix(self) -> &'static str {
        match self {
            Scope::Gpu => "",
            Scope::System => "_system",
        }
    }
}

impl Atomic {
    /// How many values it takes, beside the address.
    pub const fn values(self) -> usize {
        match self {
            Atomic::CompareExchange => 2,
            Atomic::Load => 0,
            Atomic::Store
            | Atomic::Add
            | Atomic::Max
            | Atomic::Min
            | Atomic::And
            | Atomic::Or
            | Atomic::Xor
            | Atomic::Exchange => 1,
        }
    }

    /// How many neighbours in global memory one instruction changes if nothing reads their old values (PTX ISA, "red").
    ///
    /// The manual does not say what the vectors of halves do with NaN for `min` and `max`. An H200 leaves the bits of `max.f16x2`, `min.bf16x2`
    /// and so on, with NaN, infinities, zeros of both signs and subnormal numbers among two million pairs.
    pub fn at_once(self, dtype: Dtype, target: Target) -> u32 {
        let Class::Float(float) = dtype.class() else { return 1 };
        let vectors = target.has(Capability::VectorAtomics);
        match (self, float) {
            (Atomic::Add, Float::F32) if vectors => 4,
            (Atomic::Add | Atomic::Max | Atomic::Min, Float::F16 | Float::Bf16) if vectors => 8,
            (Atomic::Add, Float::F16) => 2,
            (Atomic::Add, Float::Bf16 | Float::F32 | Float::F64)
            | (
                Atomic::Max
                | Atomic::Min
                | Atomic::And
                | Atomic::Or
                | Atomic::Xor
                | Atomic::Exchange
                | Atomic::CompareExchange
                | Atomic::Load
                | Atomic::Store,
                _,
            ) => 1,
        }
    }

    /// Whether it is defined for an element type.
    pub fn takes(self, dtype: Dtype) -> bool {
        match self {
            Atomic::Add | Atomic::Max | Atomic::Min => dtype.has_arithmetic(),
            Atomic::And | Atomic::Or | Atomic::Xor => dtype.is_int(),
            Atomic::Exchange | Atomic::CompareExchange | Atomic::Load | Atomic::Store => true,
        }
    }
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
    /// Gives a window of shared memory, without an access to it.
    Window(WindowOp),
    /// Copies that complete later, and waits for them.
    Copy(CopyOp),
    /// Orders threads, blocks and grids.
    Sync(SyncOp),
    /// Multiplies matrices.
    Product(ProductOp),
    /// An operation on tensor memory.
    TensorMemory(TensorMemoryOp),
    /// Stops the kernel if the condition (operand 0: scalar or tile of `bool`) fails anywhere. The text says what is wrong then; each `{}` in it
    /// stands for an operand of the comparison that failed.
    Assert(String),
    /// Says something to the host.
    Report(ReportOp),
}

/// Gives a value of the launch, or one that the text holds.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceOp {
    /// A constant scalar; its type is the result's.
    Const(Const),
    /// The address of a tensor's first element, or the value of a pointer parameter.
    ParamPtr(u32),
    /// The address of a tensor's first element, for accesses within its extents alone.
    TensorPtr(u32),
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
    /// The elements along an axis in reverse order.
    Flip(u32),
    /// The least integers along an axis in ascending order, as many as the result has.
    Sort(u32),
    /// The elements of operand 0 along an axis at the indices in operand 1 (`i32`), which has the result's shape. Outside the axis: zero.
    Gather(u32),
    /// How many elements of a tile of integers are 0, 1, and so on, for as many values as the result (`i32`, rank 1) has.
    Histogram,
    /// Two tiles of one type, paired along a new last axis of extent 2.
    Join,
    /// The elements of a tile at one index (0 or 1) of its last axis, which has extent 2 and is removed.
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
    /// Of the words `high` and `low` side by side, shifted by the amount modulo their width: one word.
    FunnelShift(Funnel),
    /// The same bits as an element of the result's type, which has as many.
    Bitcast,
    /// Conversion to the result's element type. Floats round to nearest even; float to integer truncates and saturates, NaN gives 0, as Rust's `as`.
    Cast,
}

/// Accesses global or shared memory by the threads of the block, at once.
#[derive(Clone, Debug, PartialEq)]
pub enum MemoryOp {
    /// Reads a tile of a tensor at the operands' offsets (`i32`, see [`Corner`](super::Corner)). Outside the tensor, or its slice: zero.
    LoadTensor(u32, Evict),
    /// Writes the last operand at the offsets given by the others. Outside the tensor, or its slice: dropped.
    StoreTensor(u32, Evict),
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
    Atomic(Atomic, Scope),
    /// The same for a tile of a tensor: at the offsets given by the first operands, with the tiles behind them. Outside the tensor, or its
    /// slice, nothing is done, and the old value is zero.
    AtomicTensor {
        /// The tensor, which is written.
        param: u32,
        /// What is done.
        op: Atomic,
        /// The L2 eviction priority of what is changed.
        evict: Evict,
        /// How it is ordered.
        ordered: Ordered,
    },
    /// Brings a tile of a tensor, at the operands' offsets, into the L2 cache, with this eviction priority. Outside the tensor, or its slice,
    /// nothing is touched.
    PrefetchTensor {
        /// The tensor.
        param: u32,
        /// The extents of the tile on its axes.
        extents: Extents,
        /// The L2 eviction priority.
        evict: Evict,
    },
    /// Reads the whole window into registers.
    LoadShared,
    /// Writes a tile (operand 1) to the window (operand 0).
    StoreShared,
    /// Reads the elements of the window (operand 0) at the tiles of indices behind it, one for each of its axes. Outside the window: zero.
    GatherShared,
    /// Writes the last operand to the elements of the window (operand 0) at the tiles of indices between them. Outside the window: dropped.
    /// Of several elements that are written to one place, any one stays.
    ScatterShared,
    /// Read-modify-write of the elements of the window (operand 0) at the tiles of indices behind it, with the tiles behind those; the result is
    /// the old value. Outside the window: nothing is done, and the old value is zero.
    AtomicShared(Atomic),
}

/// Gives a window of shared memory, without an access to it.
#[derive(Clone, Debug, PartialEq)]
pub enum WindowOp {
    /// A shared allocation. Contents are undefined.
    Alloc(Shared),
    /// Operand 0 without its leading axis, at the index in operand 1 (`i32`).
    Index,
    /// Operand 0 read with its two axes swapped.
    Transpose,
    /// Operand 0 with other extents, its elements in row-major order.
    Reshape,
    /// The part of operand 0 that begins at the coordinates after it (`i32`), which are multiples of the part's extents.
    Part,
    /// The bytes of operand 0 as elements of the result's type.
    Retype,
    /// The window that another block of the cluster has at the same place: operand 0, and the rank of the block in operand 1 (`i32`).
    Remote,
}

/// Copies that complete later, and waits for them.
#[derive(Clone, Debug, PartialEq)]
pub enum CopyOp {
    /// Writes a tile (operand 1) to a window of another block (operand 0) without waiting; the barrier (operand 2) that the other block
    /// has counts the bytes.
    StoreAsync,
    /// Starts a copy of the threads, in their current group, into a shared window (the last operand), with the L2 eviction priority of what
    /// is read.
    Async(Copied, Evict),
    /// Closes the group of copies that were started since the last one.
    Commit,
    /// Waits until at most `n` groups of this thread are pending.
    Wait(u32),
    /// Waits for all copies of this thread.
    WaitAll,
    /// Ends the copies at the start of an iteration of a loop that is pipelined in this many stages: every thread sees their data after it.
    /// The schedule puts waits in its place.
    Staged(u32),
    /// Starts a TMA copy.
    Tma(Tma),
    /// Starts a copy of contiguous bytes.
    Bulk(Bulk),
    /// Every thread of the partition waits until at most `pending` TMA and bulk stores are in flight.
    BulkWait {
        /// How many of the last stores may stay in flight.
        pending: u32,
        /// What it waits for.
        until: StoreWait,
    },
}

/// What threads copy into a shared window; the window may have other axes, see [`merges`](super::merges).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copied {
    /// A tile of a tensor, at the positions in the first operands. Outside the tensor, or its slice: zero.
    Tile {
        /// The tensor.
        param: u32,
        /// The extents of the tile on its axes.
        extents: Extents,
    },
    /// The elements at the tile of addresses in operand 0; with `masked`, operand 1 is a mask and operand 2 the scalar that comes elsewhere.
    Addresses {
        /// With mask and other.
        masked: bool,
    },
}

/// Orders threads, blocks and grids.
#[derive(Clone, Debug, PartialEq)]
pub enum SyncOp {
    /// Every thread of the block waits for the others, and sees their writes.
    Block,
    /// Orders writes of the partition's threads to shared memory before later reads of TMA and tensor cores.
    FenceAsync,
    /// An operation on mbarriers.
    Barrier(BarrierOp),
    /// The warps of the partition synchronise with others at a named barrier.
    Named(NamedOp, Named),
    /// An operation of the cluster.
    Cluster(ClusterOp),
    /// The order between grids.
    Grid(GridOp),
}

/// What a product takes of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factors {
    /// All of them.
    Full,
    /// `f32` rounded to tf32, for the tensor cores.
    Tf32,
    /// All of them, times the scale of their block: operands 3 and 4 are the tiles of scales, a row of them for each row or column of the
    /// operand.
    Scaled(Scaled),
    /// The left one is what is kept of each row, of (m, k / 2), and operand 3, a tile of `u16`, says where it was; see
    /// [`Sparsity`](super::Sparsity). `f32` is rounded to tf32.
    Sparse,
}

/// Multiplies matrices.
#[derive(Clone, Debug, PartialEq)]
pub enum ProductOp {
    /// `a · b + acc`: (m, k) · (k, n) + (m, n). Operands 0 and 1 are tiles.
    Dot(Factors),
    /// `a · b + acc` by `wgmma`: (m, k) · (k, n) + (m, n). Operand 0 is a tile or a shared window, operand 1 a shared window.
    ///
    /// The result is in flight until a [`ProductOp::WgmmaWait`].
    Wgmma {
        /// The left operand is what is kept of each row, of (m, k / 2), and operand 3, a tile of `u16`, says where it was.
        sparse: bool,
    },
    /// The tile in operand 0, after a wait that leaves at most this many later products in flight.
    WgmmaWait(u32),
    /// A `tcgen05` operation.
    Tcgen05(Tcgen05),
}

macro_rules! families {
    ($($ops:ty: |$op:ident| $made:expr;)*) => {
        $(impl From<$ops> for Op {
            fn from($op: $ops) -> Op {
                $made
            }
        })*
    };
}

families! {
    SourceOp: |op| Op::Source(op);
    TileOp: |op| Op::Tile(op);
    ElementwiseOp: |op| Op::Elementwise(op);
    MemoryOp: |op| Op::Memory(op);
    WindowOp: |op| Op::Window(op);
    CopyOp: |op| Op::Copy(op);
    SyncOp: |op| Op::Sync(op);
    ProductOp: |op| Op::Product(op);
    TensorMemoryOp: |op| Op::TensorMemory(op);
    Const: |value| Op::Source(SourceOp::Const(value));
    Unary: |op| Op::Elementwise(ElementwiseOp::Unary(op));
    Transcendental: |function| Op::from(Unary::Transcendental(function));
    Binary: |op| Op::Elementwise(ElementwiseOp::Binary(op));
    Compare: |op| Op::Elementwise(ElementwiseOp::Compare(op));
    Tma: |copy| Op::Copy(CopyOp::Tma(copy));
    Bulk: |copy| Op::Copy(CopyOp::Bulk(copy));
    BarrierOp: |op| Op::Sync(SyncOp::Barrier(op));
    ClusterOp: |op| Op::Sync(SyncOp::Cluster(op));
    GridOp: |op| Op::Sync(SyncOp::Grid(op));
    Tcgen05: |op| Op::Product(ProductOp::Tcgen05(op));
}

/// Which end of an axis a scan begins at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// At position 0.
    Forward,
    /// At the last position.
    Backward,
}

/// Which element a scan combines before the one at `position`, in step `step`; none if that step leaves it alone. Positions count
/// from the end that the scan begins at.
///
/// A scan of `2^n` elements takes the steps `0..n`. Before step `k` each run of `2^k` elements is scanned by itself; the step joins
/// neighbouring runs in pairs, by combining the last element of the first run with each of the second.
///
/// Of eight elements, the last is `((x0 x1) (x2 x3)) ((x4 x5) (x6 x7))` and the one before `((x0 x1) (x2 x3)) ((x4 x5) x6)`.
pub fn scan_source(step: u32, position: u32) -> Option<u32> {
    let run = position >> step;
    (run & 1 == 1).then(|| (run << step) - 1)
}

impl Op {
    /// Whether the operation only computes: no memory, no synchronisation, no trap.
    pub fn is_pure(&self) -> bool {
        match self {
            Op::Source(_)
            | Op::Tile(_)
            | Op::Elementwise(_)
            | Op::Window(_)
            | Op::Product(ProductOp::Dot(_)) => true,
            Op::Sync(SyncOp::Barrier(op)) => op.is_window(),
            Op::Sync(SyncOp::Cluster(op)) => op.is_position(),
            Op::TensorMemory(op) => op.is_window(),
            Op::Memory(_)
            | Op::Copy(_)
            | Op::Sync(SyncOp::Block | SyncOp::FenceAsync | SyncOp::Named(..) | SyncOp::Grid(_))
            | Op::Product(
                ProductOp::Wgmma { .. } | ProductOp::WgmmaWait(_) | ProductOp::Tcgen05(_),
            )
            | Op::Assert(_)
            | Op::Report(_) => false,
        }
    }
}
