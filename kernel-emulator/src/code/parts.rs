//! The operands of the instructions that have many.

use super::{D, P, Pred, Slot, W};
use crate::numeric::atomic::{FloatOp, IntOp};
use crate::numeric::convert::{Conversion, Minifloat, Type as Scalar};
use crate::numeric::format::{Overflow, Round};
use crate::numeric::integer::Int;
use crate::numeric::matrix::{BitOp, Element, IntElement};
use crate::numeric::narrow::Half;
use crate::numeric::scalar::{Clamp, Extreme};
use crate::numeric::scaled::Scaled;
use crate::numeric::sparse::Indices;

/// `cvt` in general.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Convert {
    pub(crate) kind: ConvertKind,
    pub(crate) d: Slot,
    pub(crate) a: Slot,
    /// The second operand of packed conversions: the low half.
    pub(crate) b: Option<Slot>,
    /// The third operand of `cvt.pack`.
    pub(crate) c: Option<Slot>,
}

/// What `cvt` converts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ConvertKind {
    /// One value; `extend` is the width that a narrow signed result is extended to.
    Scalar {
        to: Scalar,
        from: Scalar,
        mode: Conversion,
        extend: u32,
    },
    /// Two f32 to halves.
    Halves {
        half: Half,
        mode: Conversion,
    },
    /// Two f32 to small floats.
    Minis {
        mini: Minifloat,
        clamp: Clamp,
    },
    MinisFromHalves {
        mini: Minifloat,
        half: Half,
        clamp: Clamp,
    },
    MinisToHalves {
        mini: Minifloat,
        half: Half,
        clamp: Clamp,
    },
    Ue8m0 {
        round: Round,
        overflow: Overflow,
    },
    Ue8m0FromBf16 {
        round: Round,
        overflow: Overflow,
    },
    Ue8m0ToBf16,
    /// `cvt.pack.sat`.
    Pack {
        bits: u32,
        signed: bool,
    },
}

/// Where an access goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Generic,
    Global,
    /// Constant memory, which is in global addresses here.
    Const,
    /// The parameters of the entry.
    Param,
    Local,
    Shared,
}

/// `[base + offset]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) place: Place,
    pub(crate) base: Base,
    pub(crate) offset: i64,
}

/// What an address starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// A 32-bit register, zero-extended.
    W(W),
    D(D),
    None,
}

/// How a loaded element fills a wider register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extend {
    Zero,
    /// To that many bits.
    Sign(u32),
}

/// The threads among which an operation takes part in the order of memory (PTX ISA, "Scope").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MemoryScope {
    Cta,
    Cluster,
    Gpu,
    Sys,
}

/// How an access takes part in the order of memory (PTX ISA, "Memory Consistency Model: Operation types").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// Of strong accesses; weak ones have none.
    pub(crate) scope: Option<MemoryScope>,
    /// `.release`, `.acq_rel`
    pub(crate) releases: bool,
    /// `.acquire`, `.acq_rel`
    pub(crate) acquires: bool,
}

impl Order {
    /// An ordinary access.
    pub(crate) const WEAK: Order = Order { scope: None, releases: false, acquires: false };

    /// Whether it is strong: `.volatile`, `.relaxed`, `.acquire`, `.release`, `.mmio`, and atomic operations.
    pub(crate) const fn is_strong(self) -> bool {
        self.scope.is_some()
    }
}

/// `ld`.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub(crate) address: Address,
    /// Bytes of one element: 1, 2, 4, 8 or 16.
    pub(crate) bytes: u32,
    pub(crate) extend: Extend,
    /// One per element; `None` for `_`.
    pub(crate) targets: Box<[Option<Slot>]>,
    pub(crate) order: Order,
    /// `.nc`: the memory is constant while the kernel runs.
    pub(crate) constant: bool,
}

/// `st`.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub(crate) address: Address,
    pub(crate) bytes: u32,
    pub(crate) sources: Box<[Slot]>,
    pub(crate) order: Order,
}

/// `st.bulk`.
#[derive(Clone, Debug)]
pub(crate) struct Zeros {
    pub(crate) address: Address,
    pub(crate) bytes: Slot,
}

/// `atom` and `red`.
#[derive(Clone, Debug)]
pub(crate) struct Atom {
    pub(crate) address: Address,
    pub(crate) op: AtomOp,
    /// `None` for `red`.
    pub(crate) d: Option<Slot>,
    pub(crate) b: Slot,
    pub(crate) c: Option<Slot>,
    /// Further elements of `.v2`, `.v4`, `.v8`: source, and result if there is one.
    pub(crate) more: Box<[(Slot, Option<Slot>)]>,
    pub(crate) order: Order,
}

/// What an atomic operation does to the word in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomOp {
    Int(IntOp, Int),
    Cas(Int),
    /// 128 bits: exchange.
    Exchange128,
    /// 128 bits: compare and swap.
    Cas128,
    F32(FloatOp),
    F64(FloatOp),
    Half(FloatOp, Half),
    Half2(FloatOp, Half),
}

impl AtomOp {
    /// Bytes of the word in memory.
    pub(crate) const fn bytes(self) -> u32 {
        match self {
            AtomOp::Int(_, ty) | AtomOp::Cas(ty) => ty.bits() / 8,
            AtomOp::Exchange128 | AtomOp::Cas128 => 16,
            AtomOp::F32(_) | AtomOp::Half2(..) => 4,
            AtomOp::F64(_) => 8,
            AtomOp::Half(..) => 2,
        }
    }
}

/// `cp.async`.
#[derive(Clone, Debug)]
pub(crate) struct CpAsync {
    pub(crate) to: Address,
    pub(crate) from: Address,
    /// 4, 8 or 16.
    pub(crate) bytes: u32,
    /// Bytes that are read; the others are zero.
    pub(crate) source_bytes: Option<W>,
    /// Where true, nothing is read and zeros are written.
    pub(crate) ignore: Option<Pred>,
}

/// `cp.async`, and how a thread notices its end.
#[derive(Clone, Debug)]
pub(crate) enum AsyncCopy {
    Issue(Box<CpAsync>),
    CommitGroup,
    WaitGroup {
        keep: u32,
    },
    WaitAll,
    /// `cp.async.mbarrier.arrive`.
    Arrive {
        barrier: Address,
        noinc: bool,
    },
}

/// What lanes of a warp learn from one another.
#[derive(Clone, Debug)]
pub(crate) enum Exchange {
    Shfl(Box<Shfl>),
    Vote { op: Vote, d: VoteResult, a: Pred, members: Members },
    MatchAny { d: W, a: Slot, members: W },
    MatchAll { d: Option<W>, p: Option<P>, a: Slot, members: W },
    Redux { op: Redux, d: W, a: W, members: W },
    Elect { d: Option<W>, p: P, members: W },
}

impl Exchange {
    /// The lanes that take part.
    pub(crate) fn members(&self) -> Members {
        match self {
            Exchange::Shfl(shfl) => Members::Mask(shfl.members),
            Exchange::Vote { members, .. } => *members,
            Exchange::MatchAny { members, .. }
            | Exchange::MatchAll { members, .. }
            | Exchange::Redux { members, .. }
            | Exchange::Elect { members, .. } => Members::Mask(*members),
        }
    }
}

/// `shfl.sync`.
#[derive(Clone, Debug)]
pub(crate) struct Shfl {
    pub(crate) mode: ShflMode,
    pub(crate) d: Option<W>,
    pub(crate) p: Option<P>,
    pub(crate) a: W,
    pub(crate) b: W,
    pub(crate) c: W,
    pub(crate) members: W,
}

/// Where a lane of `shfl` reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShflMode {
    Up,
    Down,
    Bfly,
    Idx,
}

/// `vote` operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    All,
    Any,
    Uni,
    Ballot,
}

/// Where a vote's result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VoteResult {
    P(P),
    W(W),
}

/// The lanes of a warp-wide instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Members {
    /// A mask operand.
    Mask(W),
    /// Every lane: `.aligned` and instructions without a mask.
    All,
}

/// `redux.sync` operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Redux {
    Add,
    MinS,
    MinU,
    MaxS,
    MaxU,
    And,
    Or,
    Xor,
    FMin { which: Extreme, abs: bool, nan: bool },
}

/// `ldmatrix`.
#[derive(Clone, Debug)]
pub(crate) struct Ldmatrix {
    pub(crate) shape: MatrixShape,
    pub(crate) count: u32,
    pub(crate) trans: bool,
    pub(crate) address: Address,
    pub(crate) targets: Box<[W]>,
}

/// `stmatrix`.
#[derive(Clone, Debug)]
pub(crate) struct Stmatrix {
    pub(crate) count: u32,
    pub(crate) trans: bool,
    pub(crate) address: Address,
    pub(crate) sources: Box<[W]>,
}

/// The matrices of `ldmatrix`; those of `stmatrix` are of the first kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatrixShape {
    /// 8 rows of 8 16-bit elements.
    M8n8B16,
    /// 8 rows of 16 elements of so many bits, which lie directly behind each other in the low end of 16 bytes and get a byte each:
    /// `.b6x16_p32`, `.b4x16_p64`.
    M8n16(u32),
}

/// `mma.sync`.
#[derive(Clone, Debug)]
pub(crate) struct Mma {
    pub(crate) kind: MmaKind,
    pub(crate) d: Box<[Slot]>,
    pub(crate) a: Box<[Slot]>,
    pub(crate) b: Box<[Slot]>,
    pub(crate) c: Box<[Slot]>,
    /// Of a block-scaled product, the scales of A and of B.
    pub(crate) scales: Option<[MmaScales; 2]>,
    /// Of a sparse product, what of A is kept.
    pub(crate) sparse: Option<MmaMetadata>,
}

/// The metadata of a sparse product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MmaMetadata {
    pub(crate) data: W,
    /// Which lanes of each four give it.
    pub(crate) selector: u32,
    pub(crate) indices: Indices,
}

/// The scales of an operand of `mma.sync`, and the numbers that choose among the lanes and bytes that hold some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MmaScales {
    pub(crate) data: W,
    pub(crate) byte: W,
    pub(crate) thread: W,
}

/// The element types of `mma.sync`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MmaKind {
    /// 16 rows; `half` accumulates in f16.
    Float {
        a: Element,
        b: Element,
        half: bool,
    },
    /// 16 rows.
    Scaled(Scaled),
    /// 16 rows, or 8.
    Int {
        a: IntElement,
        b: IntElement,
        rows: u32,
        saturate: bool,
    },
    Bits {
        op: BitOp,
    },
    /// 16 rows, or 8.
    F64 {
        rows: u32,
        round: Round,
    },
}

/// `bar` and `barrier`.
#[derive(Clone, Debug)]
pub(crate) struct Bar {
    pub(crate) kind: BarKind,
    /// All lanes of a warp execute it together.
    pub(crate) aligned: bool,
    pub(crate) id: W,
    pub(crate) threads: Option<W>,
}

/// What a barrier instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarKind {
    Sync,
    Arrive,
    RedPopc { d: W, a: Pred },
    RedAnd { d: P, a: Pred },
    RedOr { d: P, a: Pred },
}

/// `mbarrier`.
#[derive(Clone, Debug)]
pub(crate) struct Mbarrier {
    pub(crate) address: Address,
    pub(crate) kind: MbarrierKind,
}

/// What an mbarrier instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MbarrierKind {
    Init {
        count: W,
    },
    Inval,
    Arrive {
        state: Option<D>,
        count: Option<W>,
        expect: Option<W>,
        drop: bool,
        no_complete: bool,
        order: Order,
    },
    ExpectTx {
        bytes: W,
    },
    CompleteTx {
        bytes: W,
    },
    /// `test_wait`, `try_wait`: the state or the parity that is waited for.
    Wait {
        d: P,
        phase: Slot,
        parity: bool,
        blocking: bool,
        order: Order,
    },
    PendingCount {
        d: W,
        state: D,
    },
}

/// A place in the local frame: byte offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocalSpot {
    pub(crate) offset: u32,
}

/// `call` of a function of the module.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// First instruction of the callee.
    pub(crate) target: u32,
    /// Local bytes copied in: from, to, bytes.
    pub(crate) arguments: Box<[(u32, u32, u32)]>,
    /// Local bytes copied back: from, to, bytes.
    pub(crate) results: Box<[(u32, u32, u32)]>,
    /// Register parameters: from, to.
    pub(crate) registers_in: Box<[(Slot, Slot)]>,
    pub(crate) registers_out: Box<[(Slot, Slot)]>,
}
