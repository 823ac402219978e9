//! Faults: what a kernel did wrong, where, in words that its author understands.

use std::fmt;

use crate::code::{Place, Slot};

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FaultKind {
    /// An access outside every allocation, or across the end of one; or outside the `.shared` variable from which its address was computed.
    OutOfBounds,
    /// An address that is not a multiple of what the access needs.
    Misaligned,
    /// A value that was never written reached memory, an address, a branch or a barrier.
    Uninitialised,
    /// A result that the manual leaves open, as of a division by zero, reached memory, an address, a branch or a barrier.
    Unspecified,
    /// An address of one state space used as one of another, or a write of constant memory.
    WrongSpace,
    /// A barrier that some threads reached while others left or wait elsewhere.
    BarrierDivergence,
    /// A warp-wide instruction without all of the lanes that it needs, or one of a warpgroup without all of
    /// the warps.
    WarpDivergence,
    /// Nothing can run and nothing is about to complete.
    Deadlock,
    /// Every warp that can run repeats a loop, and nothing that could end one of these loops happens any more.
    Livelock,
    /// `trap`, `brkpt` or a failed assertion.
    Trap,
    /// A byte of an asynchronous copy, or what an asynchronous product uses, was touched before it was
    /// waited for.
    AsyncInFlight,
    /// Memory that ordinary stores wrote is read asynchronously without `fence.proxy.async` between; or a copy reads a tensor map that was changed,
    /// without both halves of `fence.proxy.tensormap` between.
    ProxyFence,
    /// A `wgmma` uses registers that something else touched without `wgmma.fence` between.
    WgmmaFence,
    /// Tensor memory was not allocated or given back as it must be, or a warp reached for lanes of another.
    TensorMemory,
    /// Warps synchronised, and touched the same tensor memory, without `tcgen05.fence` on both sides.
    TensorFence,
    /// Two threads touched the same shared or global memory with nothing that orders the two, one of them writing.
    Race,
    /// The launch ran more instructions than [`Options`](crate::Options) permits.
    InstructionLimit,
    /// An operand value that the instruction does not permit.
    IllegalOperand,
    /// The launch itself is not possible: unknown entry, wrong parameter size, too many threads.
    Launch,
}

impl FaultKind {
    /// Whether it is a hazard: two operations with nothing that orders them as the manual demands, of which nothing need come. Under
    /// [`Hazards::Warn`](crate::Hazards::Warn) hazards are findings, and the launch goes on.
    pub const fn is_hazard(self) -> bool {
        match self {
            FaultKind::AsyncInFlight
            | FaultKind::ProxyFence
            | FaultKind::WgmmaFence
            | FaultKind::TensorFence
            | FaultKind::Race => true,
            FaultKind::OutOfBounds
            | FaultKind::Misaligned
            | FaultKind::Uninitialised
            | FaultKind::WrongSpace
            | FaultKind::BarrierDivergence
            | FaultKind::WarpDivergence
            | FaultKind::Unspecified
            | FaultKind::Deadlock
            | FaultKind::Livelock
            | FaultKind::Trap
            | FaultKind::TensorMemory
            | FaultKind::InstructionLimit
            | FaultKind::IllegalOperand
            | FaultKind::Launch => false,
        }
    }

    /// The code of a fault: H and two digits for hazards, F and two digits for all others.
    pub const fn code(self) -> &'static str {
        match self {
            FaultKind::AsyncInFlight => "H01",
            FaultKind::ProxyFence => "H02",
            FaultKind::WgmmaFence => "H03",
            FaultKind::TensorFence => "H04",
            FaultKind::Race => "H05",
            FaultKind::OutOfBounds => "F01",
            FaultKind::Misaligned => "F02",
            FaultKind::Uninitialised => "F03",
            FaultKind::WrongSpace => "F04",
            FaultKind::BarrierDivergence => "F05",
            FaultKind::WarpDivergence => "F06",
            FaultKind::Deadlock => "F07",
            FaultKind::Trap => "F08",
            FaultKind::TensorMemory => "F09",
            FaultKind::InstructionLimit => "F10",
            FaultKind::IllegalOperand => "F11",
            FaultKind::Launch => "F12",
            FaultKind::Livelock => "F13",
            FaultKind::Unspecified => "F14",
        }
    }

    /// The kind in a few words, as it starts a message.
    pub const fn text(self) -> &'static str {
        match self {
            FaultKind::OutOfBounds => "out-of-bounds access",
            FaultKind::Misaligned => "misaligned address",
            FaultKind::Uninitialised => "use of a value that was never written",
            FaultKind::Unspecified => "use of a result that is not specified",
            FaultKind::WrongSpace => "address of the wrong state space",
            FaultKind::BarrierDivergence => "barrier divergence",
            FaultKind::WarpDivergence => "warp-wide instruction in diverged code",
            FaultKind::Deadlock => "deadlock",
            FaultKind::Livelock => "livelock",
            FaultKind::Trap => "trap",
            FaultKind::AsyncInFlight => "asynchronous operation in flight",
            FaultKind::ProxyFence => "missing proxy fence",
            FaultKind::WgmmaFence => "missing wgmma fence",
            FaultKind::TensorMemory => "misuse of tensor memory",
            FaultKind::TensorFence => "missing tcgen05 fence",
            FaultKind::Race => "data race",
            FaultKind::InstructionLimit => "instruction limit reached",
            FaultKind::IllegalOperand => "operand out of range",
            FaultKind::Launch => "launch refused",
        }
    }
}

/// A place in the kernel's source, from `.loc` and `.file`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLine {
    /// The path as the `.file` directive gives it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 where it is not known.
    pub column: u32,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        Ok(())
    }
}

/// The other one of two operations that nothing orders.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Site {
    /// The kernel's source line, where the PTX has `.loc`.
    pub source: Option<SourceLine>,
    /// Line of the PTX text, from 1.
    pub ptx_line: u32,
    /// The instruction as it stands in the text.
    pub ptx: String,
    /// Who executes it, such as `lane 3 of warp 1` or `an asynchronous copy of warp 0`.
    pub agent: String,
}

/// A kernel stopped by the emulator, a launch that it refused, or a hazard that it found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// The entry that was launched.
    pub entry: String,
    /// The kernel's source line, where the PTX has `.loc`.
    pub source: Option<SourceLine>,
    /// Line of the PTX text, from 1; 0 where no instruction is to blame.
    pub ptx_line: u32,
    /// The instruction as it stands in the text.
    pub ptx: String,
    /// `%ctaid` of the block.
    pub block: [u32; 3],
    /// Warp index in the block.
    pub warp: u32,
    /// The first lane concerned, where one is.
    pub lane: Option<u32>,
    /// The address concerned, where one is.
    pub address: Option<u64>,
    /// How many bytes of memory are concerned, where that is known.
    pub bytes: Option<u32>,
    /// Of a hazard: the operation with which it conflicts, where that is one instruction.
    pub other: Option<Site>,
    /// Of a hazard: the synchronising instruction that would order the two, where one would.
    pub missing: Option<&'static str>,
    /// What happened, with the numbers: one sentence without a full stop.
    pub detail: String,
    /// The hazards that the launch met before, under [`Hazards::Warn`](crate::Hazards::Warn), as
    /// [`Report::findings`](crate::Report::findings) has them.
    pub findings: Vec<Fault>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.text(), self.detail)?;
        if let Some(source) = &self.source {
            write!(f, "\n  at {source}")?;
        }
        if self.ptx_line > 0 {
            write!(f, "\n  in PTX line {}: {}", self.ptx_line, self.ptx)?;
        }
        let [x, y, z] = self.block;
        write!(f, "\n  kernel `{}`", self.entry)?;
        if self.kind != FaultKind::Launch {
            write!(f, ", block ({x}, {y}, {z}), warp {}", self.warp)?;
            if let Some(lane) = self.lane {
                write!(f, ", lane {lane}")?;
            }
        }
        for finding in &self.findings {
            write!(f, "\nfound before: {finding}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

/// A number of bytes, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bytes(count) = self;
        if *count == 1 { f.write_str("1 byte") } else { write!(f, "{count} bytes") }
    }
}

/// A fault as the executing instruction sees it; the scheduler adds the place.
#[derive(Clone, Debug)]
pub(crate) struct Trap(Box<Details>);

/// A load that brought bytes never written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unwritten {
    pub(crate) pc: u32,
    /// The first lane that got such bytes, and from where.
    pub(crate) lane: u32,
    pub(crate) address: u64,
    pub(crate) place: Place,
}

/// A division of an integer by zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByZero {
    pub(crate) pc: u32,
    /// The lanes that divided by zero, and what the first of them divided.
    pub(crate) lanes: u32,
    pub(crate) dividend: i128,
}

/// The earlier of two accesses that nothing orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Earlier {
    pub(crate) pc: u32,
    pub(crate) by: By,
    /// Whether it wrote.
    pub(crate) wrote: bool,
}

/// Who accessed memory earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// A lane of a warp.
    Lane { block: u32, warp: u32, lane: u32 },
    /// A warp of the same block as a whole.
    Warp(u32),
    /// A lane of a warp of a block of another cluster, by the coordinates of the block.
    Elsewhere { block: [u32; 3], warp: u32, lane: u32 },
    /// Nobody: a block of the cluster may not have started.
    Start { block: u32 },
    /// An asynchronous copy.
    Copy,
}

/// A write through the generic proxy that no fence makes visible to the asynchronous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unfenced {
    /// The writer, and its instruction.
    pub(crate) warp: u32,
    pub(crate) lane: u32,
    pub(crate) pc: u32,
    /// What it did with what the asynchronous proxy reaches.
    pub(crate) did: &'static str,
    /// What is missing between the write and the read, as the end of a sentence about that thread.
    pub(crate) missing: &'static str,
}

/// Half of the fence between a write of a tensor map through the generic proxy and a read by the tensormap proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MapFence {
    Release,
    Acquire,
}

impl MapFence {
    /// The instruction.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            MapFence::Release => "fence.proxy.tensormap::generic.release",
            MapFence::Acquire => "fence.proxy.tensormap::generic.acquire",
        }
    }
}

/// A wait for an mbarrier that let a warp go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    /// Block and word of its shared memory.
    pub(crate) barrier: (usize, usize),
    pub(crate) pc: u32,
    /// The parity of the phase that was over.
    pub(crate) parity: bool,
    /// Whether the warp's wait before it was for that parity too: phases have either in turn.
    pub(crate) again: bool,
}

/// What a [`Trap`] knows.
#[derive(Clone, Debug)]
pub(crate) struct Details {
    pub(crate) kind: FaultKind,
    pub(crate) lane: Option<u32>,
    pub(crate) address: Option<u64>,
    /// How many bytes are concerned, where that is known.
    pub(crate) bytes: Option<u32>,
    /// The instruction to blame, where it is not the one that executes.
    pub(crate) pc: Option<u32>,
    /// The register concerned: the sentence in `detail` goes on from its name.
    pub(crate) slot: Option<Slot>,
    /// A load that brought bytes never written.
    pub(crate) unwritten: Option<Unwritten>,
    /// A division by zero in the lanes concerned.
    pub(crate) by_zero: Option<ByZero>,
    /// A later write, without a barrier between, to shared memory that this warp had read:
    /// instruction, warp.
    pub(crate) later: Option<(u32, u32)>,
    /// The earlier access of a race.
    pub(crate) other: Option<Earlier>,
    /// A write of shared memory that the asynchronous proxy does not see.
    pub(crate) unfenced: Option<Unfenced>,
    /// Half of the proxy fence that is missing behind a write of a tensor map, the earlier access.
    pub(crate) map_fence: Option<MapFence>,
    /// The copy that is in flight: warp, instruction.
    pub(crate) copy: Option<(u32, u32)>,
    /// `%ctaid` of the block that issued that copy, where it is another one.
    pub(crate) from: Option<[u32; 3]>,
    /// The mbarrier that counts the bytes of the copy concerned: block and word of its shared memory.
    pub(crate) barrier: Option<(usize, usize)>,
    /// The last wait for that mbarrier.
    pub(crate) passed: Option<Passed>,
    /// The `wgmma` that is in flight: instruction.
    pub(crate) product: Option<u32>,
    /// Another instruction that takes part, and which a message names last.
    pub(crate) touched: Option<u32>,
    pub(crate) detail: String,
}

impl std::ops::Deref for Trap {
    type Target = Details;

    fn deref(&self) -> &Details {
        &self.0
    }
}

impl std::ops::DerefMut for Trap {
    fn deref_mut(&mut self) -> &mut Details {
        &mut self.0
    }
}

impl Trap {
    /// A fault of the executing instruction as a whole.
    pub(crate) fn new(kind: FaultKind, detail: impl Into<String>) -> Trap {
        Trap(Box::new(Details {
            kind,
            lane: None,
            address: None,
            bytes: None,
            pc: None,
            slot: None,
            unwritten: None,
            by_zero: None,
            later: None,
            other: None,
            unfenced: None,
            map_fence: None,
            copy: None,
            from: None,
            barrier: None,
            passed: None,
            product: None,
            touched: None,
            detail: detail.into(),
        }))
    }

    /// The same fault, of one lane.
    pub(crate) fn lane(mut self, lane: u32) -> Trap {
        self.lane = Some(lane);
        self
    }

    /// The same fault, at an address.
    pub(crate) fn address(mut self, address: u64) -> Trap {
        self.address = Some(address);
        self
    }

    /// The same fault, about so many bytes.
    pub(crate) fn bytes(mut self, bytes: u32) -> Trap {
        self.bytes = Some(bytes);
        self
    }

    /// The other instruction that takes part, if one does.
    pub(crate) fn other_pc(&self) -> Option<u32> {
        let earlier = self.other.map(|other| other.pc);
        let unfenced = self.unfenced.map(|writer| writer.pc);
        let copy = self.copy.map(|(_, pc)| pc);
        earlier.or(unfenced).or(copy).or(self.product).or(self.touched)
    }

    /// The same fault, blamed on another instruction.
    pub(crate) fn at(mut self, pc: u32) -> Trap {
        self.pc = Some(pc);
        self
    }
}

/// The result of executing something.
pub(crate) type Run<T> = Result<T, Trap>;
