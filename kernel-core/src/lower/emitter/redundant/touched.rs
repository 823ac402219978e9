//! What instructions do that barriers order.

use kernel_ptx::{Instruction, Modifier, Opcode, Operand, Space, SpecialRegister, Word};

use super::paths::jump;
use crate::ir::{Blocks, Does, Effects, Kernel, Memory, only_computes};
use crate::lower::emitter::Inst;

/// Memory, a bit each: shared memory of this block, global memory by addresses, and the tensor parameters.
type Places = u64;

const SHARED: Places = 1;
/// Any global memory.
const BY_ADDRESS: Places = 2;
const GLOBAL: Places = !SHARED;
const FIRST_TENSOR: u32 = BY_ADDRESS.trailing_zeros() + 1;

/// What else than accesses matters to order, a bit each.
type Marks = u8;

/// Nothing is known of it: it may read and write everything, signal others and wait for them.
const UNKNOWN: Marks = 1;
/// One thread may signal others that all have come here.
const ANNOUNCES: Marks = 2;
/// A fence orders what the thread has written to shared memory.
const FENCES: Marks = 4;
/// The async proxy accesses shared memory.
const BY_ASYNC: Marks = 8;
/// Each thread signals to others that it has come here, for itself.
const ARRIVES: Marks = 16;
/// A warpgroup gets or gives registers; its warps meet before it does so again (PTX ISA, "setmaxnreg").
const REGISTERS: Marks = 32;
/// What it accesses belongs to its warp alone, and no other operation knows of it.
const APART: Marks = 64;

/// What threads do between two places of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    read: Places,
    written: Places,
    marks: Marks,
}

impl Touched {
    /// What nothing is known of.
    pub(crate) const ANYTHING: Touched = Touched { read: 0, written: 0, marks: UNKNOWN };

    /// What records the stamps of a warp: nothing that a barrier orders.
    pub(crate) const STAMP: Touched = Touched { read: 0, written: 0, marks: APART };

    fn reading(read: Places) -> Self {
        Touched { read, ..Touched::default() }
    }

    fn writing(written: Places) -> Self {
        Touched { written, ..Touched::default() }
    }

    fn marked(self, marks: Marks) -> Self {
        Touched { marks: self.marks | marks, ..self }
    }

    fn is(self, marks: Marks) -> bool {
        self.marks & marks != 0
    }

    /// The memory of an operation.
    pub(crate) fn by(kernel: &Kernel, effects: &Effects) -> Self {
        let mut touched = Touched::default();
        for access in &effects.accesses {
            let places = match access.memory {
                Memory::Tensor(param) if param + FIRST_TENSOR < Places::BITS => {
                    1 << (param + FIRST_TENSOR)
                }
                Memory::Tensor(_) | Memory::Address(_) => BY_ADDRESS,
                Memory::Shared(window)
                    if access.blocks == Blocks::One
                        && kernel.ty(window).shared().is_some_and(|shared| !shared.remote) =>
                {
                    SHARED
                }
                Memory::Shared(_) | Memory::TensorMemory(_) => return Touched::ANYTHING,
                Memory::Registers(_) => 0,
            };
            match access.does {
                Does::Reads => touched.read |= places,
                Does::Writes => touched.written |= places,
            }
        }
        touched
    }

    /// Adds what is done on another path, or behind it.
    pub(crate) fn add(&mut self, other: Touched) {
        self.read |= other.read;
        self.written |= other.written;
        self.marks |= other.marks;
    }

    /// Whether there is nothing that a barrier behind it could order.
    pub(crate) fn is_nothing(self) -> bool {
        self == Touched::default()
    }

    /// Whether a barrier between the two orders anything. A fence in front of it makes writes of its thread ready for what others start
    /// behind; one behind it makes ready what another barrier has to announce. What each thread signals for itself needs no other thread.
    pub(crate) fn needs_order(self, behind: Touched) -> bool {
        let without =
            |touched: Touched, marks: Marks| Touched { marks: touched.marks & !marks, ..touched };
        if self.is(REGISTERS) && behind.is(REGISTERS) {
            return true;
        }
        let own = ARRIVES | REGISTERS;
        if without(self, own).is_nothing() || without(behind, own | FENCES).is_nothing() {
            return false;
        }
        if self.is(UNKNOWN) || behind.is(UNKNOWN | ANNOUNCES) {
            return true;
        }
        let written = self.written | if self.is(FENCES) { SHARED } else { 0 };
        overlap(written, behind.read | behind.written) || overlap(self.read, behind.written)
    }

    /// Whether it may be an operation of the async proxy, or tell others that they may start one.
    pub(super) fn is_seen_by_others(self) -> bool {
        self.is(UNKNOWN | ANNOUNCES | BY_ASYNC | ARRIVES)
    }

    /// The global memory that an instruction of this operation accesses.
    fn global(self) -> Places {
        let known = (self.read | self.written) & GLOBAL;
        if self.is(UNKNOWN) || known == 0 { BY_ADDRESS } else { known }
    }
}

fn overlap(one: Places, other: Places) -> bool {
    let all = |places: Places| if places & BY_ADDRESS == 0 { places } else { places | GLOBAL };
    all(one) & all(other) != 0
}

/// What asynchronous copies of a kernel access: a wait may end any of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InFlight {
    pub(super) cp_async: Touched,
    pub(super) bulk: Touched,
}

fn has(instruction: &Instruction, word: Word) -> bool {
    instruction.modifiers.contains(&Modifier::Word(word))
}

fn is_in(instruction: &Instruction, space: Space) -> bool {
    instruction.modifiers.contains(&Modifier::Space(space))
}

/// What a `cp` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copying {
    /// A `cp.async` of a few bytes.
    CpAsync,
    /// Ends a group of these.
    CpAsyncCommit,
    /// Waits for all of them.
    CpAsyncWaitAll,
    /// Waits for some of them.
    CpAsyncWaitSome,
    /// A bulk or TMA copy.
    Bulk,
    /// A bulk copy into a cache.
    Prefetch,
    /// Ends a bulk group.
    BulkCommit,
    /// Waits for all bulk groups.
    BulkWaitAll,
    /// Waits for some.
    BulkWaitSome,
}

/// What an instruction has to do with asynchronous copies.
pub(super) fn copying(instruction: &Instruction) -> Option<Copying> {
    if instruction.opcode != Opcode::Cp {
        return None;
    }
    let has = |word| has(instruction, word);
    if has(Word::Mbarrier) {
        // It tells a barrier of earlier copies.
        return None;
    }
    let none_pending = instruction.operands.first() == Some(&Operand::Int(0));
    Some(match (has(Word::Bulk), has(Word::CommitGroup), has(Word::WaitGroup)) {
        (false, true, _) => Copying::CpAsyncCommit,
        (false, _, true) if none_pending => Copying::CpAsyncWaitAll,
        (false, _, true) => Copying::CpAsyncWaitSome,
        (false, ..) if has(Word::WaitAll) => Copying::CpAsyncWaitAll,
        (false, ..) => Copying::CpAsync,
        (true, true, _) => Copying::BulkCommit,
        (true, _, true) if none_pending => Copying::BulkWaitAll,
        (true, _, true) => Copying::BulkWaitSome,
        (true, ..) if has(Word::PrefetchWord) => Copying::Prefetch,
        (true, ..) => Copying::Bulk,
    })
}

/// What an instruction does that barriers order; `operation` is what the operation does that it belongs to.
///
/// Whatever is not listed may do anything.
#[expect(clippy::wildcard_enum_match_arm, reason = "most instructions are not listed")]
pub(super) fn touched(
    instruction: &Instruction,
    operation: Touched,
    in_flight: &InFlight,
) -> Touched {
    let has = |word| has(instruction, word);
    let nothing = Touched::default();
    match instruction.opcode {
        Opcode::Bra | Opcode::Ret | Opcode::Trap => nothing,
        _ if operation.is(APART) => nothing,
        // The time is read in its place.
        opcode if only_computes(opcode) && instruction.operands.iter().any(is_time) => {
            Touched::ANYTHING
        }
        opcode if only_computes(opcode) => nothing,
        Opcode::Mma
        | Opcode::Prefetch
        | Opcode::Redux
        | Opcode::Shfl
        | Opcode::Vote
        | Opcode::Cvta
        | Opcode::Mapa
        | Opcode::Getctarank => nothing,
        Opcode::Setmaxnreg => nothing.marked(REGISTERS),
        Opcode::Clusterlaunchcontrol if has(Word::QueryCancel) => nothing,
        Opcode::Bar if has(Word::Warp) => nothing,
        // Each thread signals for itself only.
        Opcode::Bar if has(Word::Arrive) && instruction.guard.is_none() => nothing.marked(ARRIVES),
        Opcode::Ld | Opcode::St | Opcode::Ldmatrix | Opcode::Stmatrix => {
            plain(instruction, operation)
        }
        Opcode::Cp => match copying(instruction) {
            Some(Copying::CpAsync) => {
                let mut touched = Touched::reading(operation.global());
                touched.add(Touched::writing(SHARED));
                touched
            }
            Some(Copying::CpAsyncWaitAll | Copying::CpAsyncWaitSome) => in_flight.cp_async,
            Some(Copying::Bulk) => operation.marked(BY_ASYNC),
            Some(Copying::BulkWaitAll | Copying::BulkWaitSome) => in_flight.bulk,
            Some(Copying::CpAsyncCommit | Copying::BulkCommit | Copying::Prefetch) => nothing,
            None => Touched::ANYTHING,
        },
        Opcode::Fence if is_fence_of_async_proxy(instruction) || has(Word::MbarrierInit) => {
            nothing.marked(FENCES)
        }
        Opcode::Mbarrier if has(Word::Init) => Touched::writing(SHARED),
        Opcode::Mbarrier if has(Word::Arrive) => Touched::writing(SHARED).marked(ANNOUNCES),
        // All threads wait for themselves, so that none has to tell another one of it.
        Opcode::Mbarrier if has(Word::TryWait) && instruction.guard.is_none() => {
            Touched::reading(SHARED)
        }
        Opcode::Wgmma if has(Word::FenceWord) || has(Word::CommitGroup) => nothing,
        // The tensor cores read operands.
        Opcode::Wgmma => Touched::reading(SHARED).marked(BY_ASYNC),
        _ => Touched::ANYTHING,
    }
}

/// Whether an instruction at most computes, loads and stores, for its thread alone, and the next one follows.
pub(super) fn is_plain(inst: &Inst) -> bool {
    let touched = touched(&inst.instruction, inst.operation, &InFlight::default());
    touched.marks == 0 && jump::<()>(inst).is_none() && inst.instruction.opcode != Opcode::Bar
}

/// What an ordinary load or store accesses.
fn plain(instruction: &Instruction, operation: Touched) -> Touched {
    let ordered = [
        Word::Acquire,
        Word::Release,
        Word::Relaxed,
        Word::Volatile,
        Word::Async,
        Word::Mmio,
        Word::SharedCluster,
    ];
    if ordered.into_iter().any(|word| has(instruction, word)) {
        return Touched::ANYTHING;
    }
    let places = if is_in(instruction, Space::Shared) || has(instruction, Word::SharedCta) {
        SHARED
    } else if is_in(instruction, Space::Global) {
        operation.global()
    } else if is_in(instruction, Space::Param) || is_in(instruction, Space::Local) {
        return Touched::default();
    } else {
        return Touched::ANYTHING;
    };
    if matches!(instruction.opcode, Opcode::Ld | Opcode::Ldmatrix) {
        Touched::reading(places)
    } else {
        Touched::writing(places)
    }
}

/// Whether it orders generic accesses before those of the async proxy.
pub(super) fn is_fence_of_async_proxy(instruction: &Instruction) -> bool {
    instruction.opcode == Opcode::Fence
        && has(instruction, Word::Proxy)
        && has(instruction, Word::Async)
}

fn is_time(operand: &Operand) -> bool {
    matches!(
        operand,
        Operand::Special(
            SpecialRegister::Clock
                | SpecialRegister::ClockHi
                | SpecialRegister::Clock64
                | SpecialRegister::Globaltimer
                | SpecialRegister::GlobaltimerLo
                | SpecialRegister::GlobaltimerHi
        )
    )
}
