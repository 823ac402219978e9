//! The decoded form of a kernel: what the interpreter executes.
//!
//! One entry and every function it can reach become one flat array of [`Inst`]. Operands are slots
//! of the warp's register file. Immediates and special registers have slots of their own, filled
//! when a warp starts, so that an operand is always read in the same way.

use crate::numeric::compare::Join;
use crate::numeric::integer::Int;
use crate::numeric::scalar::Property;

pub(crate) mod bulk;
pub(crate) mod ops;
pub(crate) mod parts;
pub(crate) mod tcgen05;
pub(crate) mod wgmma;

pub(crate) use bulk::{
    AsyncStore, Bulk, BulkCopy, BulkWay, Elements, Landing, MapCopy, MapField, QueryCancel,
    Replace, Tensor, TensorWay, TryCancel,
};
pub(crate) use ops::{
    BitField, Carry, Clock, Compare, CountOp, D1, D2, D3, HalfCompare, IntBinary, IntTernary,
    Lop3Pred, NarrowBinary, NarrowTernary, NarrowUnary, SetHalves, SetResult, ShiftOp, W1, W2, W3,
};
pub(crate) use parts::{
    Address, AsyncCopy, Atom, AtomOp, Bar, BarKind, Base, Call, Convert, ConvertKind, CpAsync,
    Exchange, Extend, Ldmatrix, Load, LocalSpot, MatrixShape, Mbarrier, MbarrierKind, Members,
    MemoryScope, Mma, MmaKind, MmaMetadata, MmaScales, Order, Place, Redux, Shfl, ShflMode,
    Stmatrix, Store, Vote, VoteResult, Zeros,
};

/// Lanes of a warp.
pub(crate) const LANES: usize = 32;
/// One 32-bit register of a warp.
pub(crate) type Words = [u32; LANES];
/// One 64-bit register of a warp.
pub(crate) type Doubles = [u64; LANES];

/// A slot of the 32-bit bank; 8- and 16-bit registers live there too, zero-extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct W(pub(crate) u32);
/// A slot of the 64-bit bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct D(pub(crate) u32);
/// A slot of the 128-bit bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Q(pub(crate) u32);
/// A slot of the predicate bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct P(pub(crate) u32);

/// A slot of any bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    W(W),
    D(D),
    Q(Q),
    P(P),
}

/// A predicate operand, perhaps negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pred {
    pub(crate) slot: P,
    pub(crate) negated: bool,
}

/// One decoded instruction.
#[derive(Clone, Debug)]
pub(crate) struct Inst {
    pub(crate) guard: Option<Pred>,
    pub(crate) class: Class,
    pub(crate) op: Op,
}

/// How the interpreter's loop treats an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Executes for the lanes whose guard holds, and continues.
    Plain,
    /// The same, and touches registers that some `wgmma` or `tcgen05.ld` uses: see [`Code::watched`].
    Watched,
    /// Branches, gathers lanes or waits.
    Control,
}

/// Where an instruction comes from: beside the code, since only faults read it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Origin {
    /// Line of the PTX text.
    pub(crate) line: u32,
    /// `.loc`: file index, line, column; all 0 where there is none.
    pub(crate) source: (u32, u32, u32),
}

/// No instruction: the reconvergence point of a branch whose paths never meet.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// What an instruction does.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    // Arithmetic and logic on whole registers; see `exec/arith.rs`.
    W1 {
        op: W1,
        d: W,
        a: W,
    },
    W2 {
        op: W2,
        d: W,
        a: W,
        b: W,
    },
    W3 {
        op: W3,
        d: W,
        a: W,
        b: W,
        c: W,
    },
    D1 {
        op: D1,
        d: D,
        a: D,
    },
    D2 {
        op: D2,
        d: D,
        a: D,
        b: D,
    },
    D3 {
        op: D3,
        d: D,
        a: D,
        b: D,
        c: D,
    },
    /// `div`, `rem` of integers.
    Divide {
        remainder: bool,
        ty: Int,
        d: Slot,
        a: Slot,
        b: Slot,
    },
    /// 64-bit shifts, whose amount is 32 bits wide.
    ShiftD {
        op: ShiftOp,
        d: D,
        a: D,
        b: W,
    },
    /// `popc`, `clz`, `bfind` of 64 bits.
    CountD {
        op: CountOp,
        d: W,
        a: D,
    },
    /// `mul.wide`, `mad.wide` of 32 bits.
    Wide {
        signed: bool,
        d: D,
        a: W,
        b: W,
        c: Option<D>,
    },
    Bfi {
        d: W,
        a: W,
        b: W,
        c: W,
        e: W,
    },
    BfiD(Box<BitField>),
    BfeD {
        signed: bool,
        d: D,
        a: D,
        b: W,
        c: W,
    },
    /// The carry chain: `d = a op b [op c] [op carry]`.
    Carry(Box<Carry>),
    /// `lop3` with a predicate.
    Lop3Pred(Box<Lop3Pred>),
    // Comparison and selection.
    /// The plain form, which nearly every comparison is.
    Setp {
        cmp: Compare,
        d: P,
        a: Slot,
        b: Slot,
    },
    /// With a second result or a third operand.
    SetpJoin {
        cmp: Compare,
        results: Box<[Option<P>; 2]>,
        a: Slot,
        b: Slot,
        with: (Join, Pred),
    },
    /// On two halves: low result, high result.
    SetpHalves {
        cmp: HalfCompare,
        results: Box<[Option<P>; 2]>,
        a: W,
        b: W,
        with: (Join, Pred),
    },
    Set {
        cmp: Compare,
        to: SetResult,
        d: W,
        a: Slot,
        b: Slot,
        with: (Join, Pred),
    },
    SetHalves {
        cmp: HalfCompare,
        to: SetHalves,
        d: W,
        a: W,
        b: W,
        with: (Join, Pred),
    },
    SelpW {
        d: W,
        a: W,
        b: W,
        p: Pred,
    },
    SelpD {
        d: D,
        a: D,
        b: D,
        p: Pred,
    },
    SelpQ {
        d: Q,
        a: Q,
        b: Q,
        p: Pred,
    },
    /// `slct`: `a` where `c >= 0`; `float` holds `.ftz` where `c` is an f32.
    Slct {
        float: Option<bool>,
        d: Slot,
        a: Slot,
        b: Slot,
        c: W,
    },
    Testp {
        what: Property,
        d: P,
        a: Slot,
    },
    // Moves.
    MovW {
        d: W,
        a: W,
    },
    MovD {
        d: D,
        a: D,
    },
    MovQ {
        d: Q,
        a: Q,
    },
    MovP {
        d: P,
        a: Pred,
    },
    /// `mov` between a register and the parts of a vector.
    Pack {
        d: Slot,
        parts: Box<[Slot]>,
        part_bits: u32,
    },
    Unpack {
        parts: Box<[Option<Slot>]>,
        a: Slot,
        part_bits: u32,
    },
    Logic {
        op: Join,
        d: P,
        a: Pred,
        b: Pred,
    },
    Clock {
        d: Slot,
        what: Clock,
    },
    // Conversion; see `exec/convert.rs`.
    Convert(Box<Convert>),
    // Memory; see `exec/memory.rs`.
    Load(Box<Load>),
    Store(Box<Store>),
    Zeros(Box<Zeros>),
    Atom(Box<Atom>),
    Isspacep {
        d: P,
        a: D,
        space: Place,
    },
    Mapa {
        d: Slot,
        a: Slot,
        rank: W,
    },
    CtaRank {
        d: W,
        a: Slot,
    },
    // Asynchronous copies; see `exec/async_copy.rs`.
    CpAsync(AsyncCopy),
    // Bulk copies; see `exec/bulk.rs`, `exec/tma.rs`, `exec/launch_control.rs` and `exec/tensormap.rs`.
    Bulk(BulkCopy),
    TryCancel(Box<TryCancel>),
    QueryCancel(Box<QueryCancel>),
    TensormapReplace(Box<Replace>),
    TensormapCopy(Box<MapCopy>),
    // Warp-wide instructions; see `exec/control.rs` and `exec/matrix.rs`.
    Exchange(Exchange),
    Activemask {
        d: W,
    },
    Ldmatrix(Box<Ldmatrix>),
    Stmatrix(Box<Stmatrix>),
    Movmatrix {
        d: W,
        a: W,
    },
    Mma(Box<Mma>),
    // Matrix instructions of a warpgroup; see `exec/wgmma.rs`.
    Wgmma(wgmma::Wgmma),
    /// Tensor memory; see `exec/tcgen05.rs`.
    Tcgen05(Box<tcgen05::Tcgen05>),
    /// `setmaxnreg`; see `exec/setmaxnreg.rs`.
    Setmaxnreg {
        change: RegisterChange,
        count: u32,
    },
    WarpSync {
        members: W,
    },
    // Barriers and fences; see `exec/barrier.rs`.
    Bar(Box<Bar>),
    ClusterArrive {
        aligned: bool,
        relaxed: bool,
    },
    ClusterWait {
        aligned: bool,
    },
    Mbarrier(Box<Mbarrier>),
    Fence(Fence),
    Nanosleep,
    // Control; see `machine/warp.rs`.
    Bra {
        target: u32,
    },
    BrxIdx {
        index: W,
        targets: Box<[u32]>,
    },
    Call(Box<Call>),
    Ret,
    Exit,
    Trap {
        breakpoint: bool,
    },
    Vprintf {
        format: LocalSpot,
        arguments: LocalSpot,
        result: Option<LocalSpot>,
    },
    AssertFail {
        message: LocalSpot,
        file: LocalSpot,
        line: LocalSpot,
    },
    /// `griddepcontrol.wait`
    GridWait,
    /// Hints without a meaning here: `prefetch`, `discard` of caches, `griddepcontrol.launch_dependents`, `pmevent`.
    Hint,
}

impl Op {
    /// How the interpreter's loop treats it.
    pub(crate) fn class(&self) -> Class {
        match self {
            Op::Tcgen05(op) if op.members().is_none() => Class::Plain,
            Op::Bra { .. }
            | Op::BrxIdx { .. }
            | Op::Call(_)
            | Op::Ret
            | Op::Exit
            | Op::Exchange(_)
            | Op::Ldmatrix(_)
            | Op::Stmatrix(_)
            | Op::Movmatrix { .. }
            | Op::Mma(_)
            | Op::TensormapCopy(_)
            | Op::Wgmma(_)
            | Op::Tcgen05(_)
            | Op::Setmaxnreg { .. }
            | Op::WarpSync { .. }
            | Op::Bar(_)
            | Op::ClusterArrive { .. }
            | Op::ClusterWait { .. }
            | Op::Mbarrier(_) => Class::Control,
            Op::W1 { .. }
            | Op::W2 { .. }
            | Op::W3 { .. }
            | Op::D1 { .. }
            | Op::D2 { .. }
            | Op::D3 { .. }
            | Op::Divide { .. }
            | Op::ShiftD { .. }
            | Op::CountD { .. }
            | Op::Wide { .. }
            | Op::Bfi { .. }
            | Op::BfiD(_)
            | Op::BfeD { .. }
            | Op::Carry(_)
            | Op::Lop3Pred(_)
            | Op::Setp { .. }
            | Op::SetpJoin { .. }
            | Op::SetpHalves { .. }
            | Op::Set { .. }
            | Op::SetHalves { .. }
            | Op::SelpW { .. }
            | Op::SelpD { .. }
            | Op::SelpQ { .. }
            | Op::Slct { .. }
            | Op::Testp { .. }
            | Op::MovW { .. }
            | Op::MovD { .. }
            | Op::MovQ { .. }
            | Op::MovP { .. }
            | Op::Pack { .. }
            | Op::Unpack { .. }
            | Op::Logic { .. }
            | Op::Clock { .. }
            | Op::Convert(_)
            | Op::Load(_)
            | Op::Store(_)
            | Op::Zeros(_)
            | Op::Atom(_)
            | Op::Isspacep { .. }
            | Op::Mapa { .. }
            | Op::CtaRank { .. }
            | Op::CpAsync(_)
            | Op::Bulk(_)
            | Op::TryCancel(_)
            | Op::QueryCancel(_)
            | Op::TensormapReplace(_)
            | Op::Activemask { .. }
            | Op::Fence(_)
            | Op::Nanosleep
            | Op::Trap { .. }
            | Op::Vprintf { .. }
            | Op::AssertFail { .. }
            | Op::GridWait
            | Op::Hint => Class::Plain,
        }
    }

    /// Whether it needs `fence.proxy.async` between accesses to shared memory through the generic proxy and its own.
    pub(crate) fn needs_proxy_fence(&self) -> bool {
        #[expect(clippy::wildcard_enum_match_arm, reason = "few instructions do")]
        match self {
            Op::TryCancel(_) => true,
            Op::Bulk(op) => op.reads_async(),
            Op::Wgmma(op) => matches!(op, wgmma::Wgmma::Mma(_)),
            Op::Tcgen05(op) => op.reads_async(),
            _ => false,
        }
    }

    /// The lanes that it needs together, if it needs any.
    pub(crate) fn members(&self) -> Option<Members> {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "`class` names every instruction; most need no other lane"
        )]
        match self {
            Op::Exchange(op) => Some(op.members()),
            Op::WarpSync { members } => Some(Members::Mask(*members)),
            Op::Ldmatrix(_)
            | Op::Stmatrix(_)
            | Op::Movmatrix { .. }
            | Op::Mma(_)
            | Op::TensormapCopy(_)
            | Op::Wgmma(_)
            | Op::Setmaxnreg { .. } => Some(Members::All),
            Op::Tcgen05(op) => op.members(),
            Op::Bar(bar) if bar.aligned => Some(Members::All),
            Op::ClusterArrive { aligned: true, .. } | Op::ClusterWait { aligned: true } => {
                Some(Members::All)
            }
            _ => None,
        }
    }

    /// Whether lanes that execute it together know after it what each of them did before. Most instructions that wait for lanes say nothing of
    /// memory: they exchange registers, or access memory for each lane.
    pub(crate) fn orders_lanes(&self) -> bool {
        !matches!(
            self,
            Op::Exchange(_)
                | Op::Ldmatrix(_)
                | Op::Stmatrix(_)
                | Op::Movmatrix { .. }
                | Op::Mma(_)
                | Op::Setmaxnreg { .. }
        )
    }
}

/// Which accesses a fence orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fence {
    /// Those of different threads (`fence`, `membar`).
    Threads { scope: MemoryScope, releases: bool, acquires: bool },
    /// `fence.mbarrier_init`: the thread's earlier ones, for those who wait for it.
    Init,
    /// Those of one thread through different proxies.
    Proxy,
    /// `fence.proxy.tensormap::generic.release`: what the thread wrote may be read as tensor maps, by who acquires.
    MapRelease { scope: MemoryScope },
    /// `fence.proxy.tensormap::generic.acquire`, of a tensor map.
    MapAcquire { map: Address, scope: MemoryScope },
    /// `fence.proxy.async`, of shared or of global memory alone or of both: what the thread wrote may be read asynchronously.
    AsyncProxy { shared: bool, global: bool },
}

/// What `setmaxnreg` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegisterChange {
    /// `.dec`
    Release,
    /// `.inc`
    Take,
}

/// What a slot holds when a warp starts, beside what a kernel writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Preset {
    Word(u32),
    Double(u64),
    Special(Special),
    /// The shared-space address of an offset in the block's shared memory.
    Shared(u32),
    /// The same, from the start of its dynamic part.
    DynamicShared(u32),
    /// The generic address of a module-scope variable, plus bytes.
    Global {
        variable: u32,
        offset: i64,
    },
}

/// A special register whose value does not change while a warp lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    Laneid,
    Warpid,
    Nwarpid,
    Smid,
    Nsmid,
    Gridid,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    DynamicSmemSize,
    TotalSmemSize,
    ClusterCtarank,
    ClusterNctarank,
    ClusterCtaid(u8),
    ClusterNctaid(u8),
    Clusterid(u8),
    Nclusterid(u8),
}

/// A static `.shared` variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedVariable {
    pub(crate) name: String,
    /// Its offset in the block's shared memory.
    pub(crate) start: u32,
    pub(crate) bytes: u32,
}

/// One entry, ready to run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    pub(crate) insts: Vec<Inst>,
    pub(crate) origins: Vec<Origin>,
    /// Where the paths of the branch at this index meet again, or [`NOWHERE`].
    pub(crate) joins: Vec<u32>,
    /// Slots of each bank that a kernel writes; presets follow them.
    pub(crate) words: u32,
    pub(crate) doubles: u32,
    pub(crate) quads: u32,
    pub(crate) preds: u32,
    pub(crate) word_presets: Vec<Preset>,
    pub(crate) double_presets: Vec<Preset>,
    /// `true` and `false`.
    pub(crate) pred_presets: Vec<bool>,
    /// Bytes of local memory of a thread.
    pub(crate) local_bytes: u32,
    /// Bytes of static shared memory, from the start of the block's shared memory.
    pub(crate) static_shared_bytes: u32,
    pub(crate) param_bytes: u32,
    /// Whether the asynchronous proxy reads shared memory anywhere.
    pub(crate) needs_proxy_fences: bool,
    /// Module-scope constants: variable, bytes.
    pub(crate) constants: Vec<(u32, u64)>,
    /// Registers of each thread at the launch, where `setmaxnreg` counts.
    pub(crate) registers: Option<u32>,
    /// The `.cta_group` of the kernel's `tcgen05`, if it has any.
    pub(crate) tensor_group: Option<tcgen05::Group>,
    /// Per instruction, the registers of some `wgmma` that it touches without being one, and those of some
    /// `tcgen05.ld`; empty where the kernel has neither.
    pub(crate) watched: Vec<Box<[W]>>,
    /// The `.shared` variables whose addresses are followed, and the one that an instruction has to stay within; empty where there is none.
    pub(crate) shared_variables: Vec<SharedVariable>,
    pub(crate) shared_origins: Vec<Option<u32>>,
    /// Names of the registers of the word, double, quad and predicate banks, for faults.
    pub(crate) names: [Vec<String>; 4],
}

impl Code {
    /// Where dynamic shared memory starts, from the start of the block's shared memory: a multiple of 1024.
    pub(crate) fn dynamic_offset(&self) -> u32 {
        self.static_shared_bytes.next_multiple_of(1024)
    }

    /// Whether a global address is in a variable of constant memory.
    pub(crate) fn constant(&self, variables: &[u64], address: u64) -> bool {
        self.constants.iter().any(|&(i, bytes)| address.wrapping_sub(variables[i as usize]) < bytes)
    }
}
