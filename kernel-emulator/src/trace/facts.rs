//! What is known of each instruction before it runs: registers, cost and place.
#![expect(
    clippy::match_same_arms,
    reason = "instructions are listed by what they are, and not by what they cost"
)]

use kernel_ptx::{Instruction, Module, Operand, Statement, results};

use super::Kind;
use super::cost::{Cost, Device};
use crate::code::wgmma::{Left, Wgmma};
use crate::code::{
    AsyncCopy, BulkCopy, Code, D1, D2, D3, Exchange, Fence, Inst, IntBinary, IntTernary,
    MbarrierKind, MemoryScope, MmaKind, NarrowUnary, Op, Place, Slot, W1, W2, W3, tcgen05::Tcgen05,
};
use crate::decode;
use crate::numeric::wgmma::Factor;

/// One instruction.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// Its opcode with modifiers.
    pub(super) name: String,
    /// The registers that it reads and writes, numbered over all functions of the entry.
    pub(super) uses: Vec<u32>,
    pub(super) results: Vec<u32>,
    /// Accumulators of `wgmma`, and what `tcgen05.ld` loads: written later, and occupied from here on.
    pub(super) later: Vec<u32>,
    pub(super) cost: Cost,
    pub(super) action: Action,
    /// Words of each thread that go to local memory and back, for want of registers.
    pub(super) spilled: f64,
    pub(super) line: u32,
    /// File, line and column.
    pub(super) source: (u32, u32, u32),
}

impl Facts {
    /// The registers that have to hold something when it runs.
    pub(super) fn reads(&self) -> impl Iterator<Item = u32> + '_ {
        let accumulators = if self.action == Action::Wgmma { &self.later[..] } else { &[] };
        self.uses.iter().chain(accumulators).copied()
    }
}

/// What an instruction does with what its warp has in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    None,
    /// `cp.async`
    Copy,
    CommitCopies,
    /// Until so many groups are left; until nothing is, without a number.
    WaitCopies {
        keep: Option<u32>,
    },
    /// `cp.async.mbarrier.arrive`
    TrackCopies,
    CommitBulk,
    WaitBulk {
        keep: u32,
        reads_only: bool,
    },
    Wgmma,
    CommitWgmma,
    WaitWgmma {
        keep: u32,
    },
    /// `tcgen05.ld`, `tcgen05.st`, of so many registers.
    TensorMemory {
        registers: u32,
    },
    WaitTensorMemory,
    /// `tcgen05.commit`
    CommitTensor,
    /// Leaves the next instruction.
    Branch,
}

/// The facts of each instruction of an entry, and the 32-bit registers that each value takes.
pub(super) fn facts(
    module: &Module,
    entry: &str,
    code: &Code,
    device: &Device,
) -> (Vec<Facts>, Vec<u32>) {
    let index = module.functions.iter().position(|f| f.name == entry && f.body.is_some());
    let functions = index.and_then(|index| decode::reachable(module, index).ok());
    let mut all = Vec::with_capacity(code.insts.len());
    let mut words: Vec<u32> = Vec::new();
    for index in functions.unwrap_or_default() {
        let function = &module.functions[index];
        for statement in function.body.iter().flatten() {
            let Statement::Instruction(instruction) = statement else { continue };
            let count = results(instruction, &function.registers).unwrap_or(0);
            let first = u32::try_from(words.len()).expect("an entry is small");
            all.push(of(instruction, count, first));
        }
        // The end of a body is an instruction of its own.
        all.push((String::from("ret"), Vec::new(), Vec::new()));
        words.extend(function.registers.iter().map(|register| match register.ty.bits() {
            0..=1 => 0,
            bits => bits.div_ceil(32),
        }));
    }
    let facts = code.insts.iter().zip(&code.origins).zip(all);
    let facts = facts.map(|((inst, origin), (name, uses, results))| {
        let (results, later) =
            if is_asynchronous(inst) { (Vec::new(), results) } else { (results, Vec::new()) };
        let (line, source) = (origin.line, origin.source);
        let (cost, action) = (cost(&inst.op, device), action(&inst.op));
        Facts { name, uses, results, later, cost, action, spilled: 0.0, line, source }
    });
    (facts.collect(), words)
}

/// Name, registers that are read, registers that are written.
fn of(instruction: &Instruction, results: usize, first: u32) -> (String, Vec<u32>, Vec<u32>) {
    let registers = |operands: &[Operand], guard| {
        let part = Instruction {
            guard,
            opcode: instruction.opcode,
            modifiers: Vec::new(),
            operands: operands.to_vec(),
            line: 0,
        };
        let mut found = Vec::new();
        part.visit_registers(|register| found.push(first + register.0));
        found
    };
    let (written, read) = instruction.operands.split_at(results.min(instruction.operands.len()));
    (decode::text(instruction), registers(read, instruction.guard), registers(written, None))
}

/// Whether its results are there after a wait, and not when a register is read.
fn is_asynchronous(inst: &Inst) -> bool {
    matches!(&inst.op, Op::Wgmma(_))
        || matches!(&inst.op, Op::Tcgen05(op) if matches!(**op, Tcgen05::Load(_)))
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "few instructions do anything with what is in flight"
)]
fn action(op: &Op) -> Action {
    match op {
        Op::CpAsync(op) => match op {
            AsyncCopy::Issue(_) => Action::Copy,
            AsyncCopy::CommitGroup => Action::CommitCopies,
            AsyncCopy::WaitGroup { keep } => Action::WaitCopies { keep: Some(*keep) },
            AsyncCopy::WaitAll => Action::WaitCopies { keep: None },
            AsyncCopy::Arrive { .. } => Action::TrackCopies,
        },
        Op::Bulk(op) => match *op {
            BulkCopy::Commit => Action::CommitBulk,
            BulkCopy::Wait { keep, reads_only } => Action::WaitBulk { keep, reads_only },
            BulkCopy::Bytes(_) | BulkCopy::Tensor(_) | BulkCopy::Store(_) => Action::None,
        },
        Op::Wgmma(op) => match *op {
            Wgmma::Mma(_) => Action::Wgmma,
            Wgmma::Fence => Action::None,
            Wgmma::Commit => Action::CommitWgmma,
            Wgmma::Wait { keep } => Action::WaitWgmma { keep },
        },
        Op::Tcgen05(op) => match &**op {
            Tcgen05::Load(access) | Tcgen05::Store(access) => {
                let registers = u32::try_from(access.registers.len()).expect("at most 128");
                Action::TensorMemory { registers }
            }
            Tcgen05::WaitLoads | Tcgen05::WaitStores => Action::WaitTensorMemory,
            Tcgen05::Commit { .. } => Action::CommitTensor,
            _ => Action::None,
        },
        Op::Bra { .. } | Op::BrxIdx { .. } | Op::Call(_) | Op::Ret => Action::Branch,
        _ => Action::None,
    }
}

fn cost(op: &Op, device: &Device) -> Cost {
    match op {
        Op::W1 { op, .. } => one_word(*op),
        Op::W2 { op, .. } => two_words(*op),
        Op::W3 { op, .. } => three_words(*op),
        Op::D1 { op, .. } => one_double(*op, device),
        Op::D2 { op, .. } => two_doubles(*op, device),
        Op::D3 { op, .. } => match op {
            D3::Int(IntTernary::MadWide, _) => Cost::integer(2.0),
            D3::Int(IntTernary::MadLo | IntTernary::MadHi | IntTernary::Sad, _) => {
                Cost::integer(4.0)
            }
            D3::FFma(_) => Cost::double(device, 1.0),
            D3::PairFma(_) => Cost::float(1.0),
        },
        // Reciprocals and corrections: about as many instructions as ptxas writes for them. A(ssumed).
        Op::Divide { d, .. } => match d {
            Slot::D(_) | Slot::Q(_) => Cost::integer(60.0),
            Slot::W(_) | Slot::P(_) => Cost::integer(18.0),
        },
        Op::ShiftD { .. } | Op::BfeD { .. } | Op::BfiD(_) => Cost::integer(2.0),
        Op::CountD { .. } => Cost::special(2.0),
        Op::Wide { .. } | Op::Bfi { .. } | Op::Carry(_) | Op::Lop3Pred(_) => Cost::integer(1.0),
        Op::Setp { a, .. } | Op::SetpJoin { a, .. } => {
            Cost::integer(if matches!(a, Slot::D(_)) { 2.0 } else { 1.0 })
        }
        Op::SetpHalves { .. } | Op::Set { .. } | Op::SetHalves { .. } | Op::Slct { .. } => {
            Cost::integer(1.0)
        }
        Op::SelpW { .. } | Op::Testp { .. } | Op::Logic { .. } => Cost::integer(1.0),
        Op::SelpD { .. } => Cost::integer(2.0),
        Op::SelpQ { .. } => Cost::integer(4.0),
        Op::MovW { .. } | Op::MovD { .. } | Op::MovQ { .. } | Op::MovP { .. } | Op::Hint => {
            Cost::nothing()
        }
        // Halves of a 32-bit register are put together by an instruction; registers of a pair are beside each other.
        Op::Pack { part_bits, .. } | Op::Unpack { part_bits, .. } if *part_bits >= 32 => {
            Cost::nothing()
        }
        Op::Pack { .. } | Op::Unpack { .. } => Cost::integer(1.0),
        Op::Clock { .. } | Op::Activemask { .. } | Op::Nanosleep | Op::GridWait => {
            Cost::issue(Kind::Control)
        }
        Op::Convert(convert) => match (convert.d, convert.a) {
            (Slot::D(_), _) | (_, Slot::D(_)) => Cost::special(1.0),
            (Slot::W(_) | Slot::Q(_) | Slot::P(_), _) => Cost::integer(1.0),
        },
        Op::Load(op) => load(op.address.place, device),
        Op::Store(op) => store(op.address.place),
        Op::Atom(op) => atom(op.address.place),
        Op::Zeros(_) | Op::Ldmatrix(_) | Op::Stmatrix(_) => Cost::memory(Kind::Shared),
        Op::Isspacep { .. } | Op::Mapa { .. } | Op::CtaRank { .. } => Cost::integer(1.0),
        Op::CpAsync(op) => match op {
            AsyncCopy::Issue(_) => Cost::memory(Kind::Copy),
            AsyncCopy::CommitGroup | AsyncCopy::Arrive { .. } => Cost::issue(Kind::Sync),
            AsyncCopy::WaitGroup { .. } | AsyncCopy::WaitAll => Cost::issue(Kind::Sync),
        },
        Op::Bulk(op) => match op {
            BulkCopy::Bytes(_) | BulkCopy::Tensor(_) => Cost::issue(Kind::Copy),
            BulkCopy::Store(_) => Cost::memory(Kind::Copy),
            BulkCopy::Commit | BulkCopy::Wait { .. } => Cost::issue(Kind::Sync),
        },
        Op::TryCancel(_) | Op::TensormapReplace(_) | Op::TensormapCopy(_) => {
            Cost::issue(Kind::Copy)
        }
        Op::QueryCancel(_) => Cost::integer(1.0),
        Op::Exchange(op) => match op {
            Exchange::Shfl(_) | Exchange::MatchAny { .. } | Exchange::MatchAll { .. } => {
                Cost::exchange()
            }
            Exchange::Redux { .. } => Cost::special(1.0),
            Exchange::Vote { .. } | Exchange::Elect { .. } => Cost::issue(Kind::Arithmetic),
        },
        Op::Movmatrix { .. } => Cost::exchange(),
        Op::Mma(mma) => mma_cost(mma.kind, mma.a.len(), device),
        Op::Wgmma(op) => wgmma_cost(op, device),
        Op::Tcgen05(op) => tcgen05_cost(op),
        Op::Setmaxnreg { .. } | Op::WarpSync { .. } | Op::Bar(_) => Cost::issue(Kind::Sync),
        Op::ClusterArrive { .. } | Op::ClusterWait { .. } => Cost::issue(Kind::Sync),
        Op::Mbarrier(op) => mbarrier(&op.kind),
        Op::Fence(op) => fence(op, device),
        Op::Bra { .. } | Op::BrxIdx { .. } | Op::Call(_) | Op::Ret | Op::Exit => {
            Cost::issue(Kind::Control)
        }
        Op::Trap { .. } | Op::Vprintf { .. } | Op::AssertFail { .. } => Cost::issue(Kind::Control),
    }
}

fn load(place: Place, device: &Device) -> Cost {
    match place {
        Place::Param | Place::Const => Cost::nothing(),
        Place::Shared => Cost::memory(Kind::Shared),
        Place::Generic | Place::Global => Cost::memory(Kind::GlobalLoad),
        Place::Local => Cost { latency: device.first, ..Cost::memory(Kind::Local) },
    }
}

fn store(place: Place) -> Cost {
    match place {
        Place::Shared => Cost::memory(Kind::Shared),
        Place::Param | Place::Const | Place::Generic | Place::Global => {
            Cost::memory(Kind::GlobalStore)
        }
        Place::Local => Cost::memory(Kind::Local),
    }
}

fn atom(place: Place) -> Cost {
    match place {
        Place::Shared => Cost::memory(Kind::Shared),
        Place::Param | Place::Const | Place::Generic | Place::Global | Place::Local => {
            Cost::memory(Kind::GlobalStore)
        }
    }
}

fn tcgen05_cost(op: &Tcgen05) -> Cost {
    match *op {
        Tcgen05::Load(_) | Tcgen05::Store(_) => Cost::issue(Kind::TensorMemory),
        Tcgen05::Mma(_) | Tcgen05::Copy(_) | Tcgen05::Shift { .. } => Cost::issue(Kind::Tensor),
        Tcgen05::Alloc { .. }
        | Tcgen05::Dealloc { .. }
        | Tcgen05::Relinquish { .. }
        | Tcgen05::WaitLoads
        | Tcgen05::WaitStores
        | Tcgen05::FenceBefore
        | Tcgen05::FenceAfter
        | Tcgen05::Commit { .. } => Cost::issue(Kind::Sync),
    }
}

fn mbarrier(kind: &MbarrierKind) -> Cost {
    match *kind {
        MbarrierKind::PendingCount { .. } => Cost::integer(1.0),
        MbarrierKind::Init { .. }
        | MbarrierKind::Inval
        | MbarrierKind::Arrive { .. }
        | MbarrierKind::ExpectTx { .. }
        | MbarrierKind::CompleteTx { .. }
        | MbarrierKind::Wait { .. } => Cost::memory(Kind::Sync),
    }
}

fn fence(op: &Fence, device: &Device) -> Cost {
    match op {
        // Stores have to be seen in the second-level cache.
        Fence::Threads { scope: MemoryScope::Gpu | MemoryScope::Sys, .. }
        | Fence::MapRelease { .. }
        | Fence::MapAcquire { .. } => Cost { latency: device.second, ..Cost::fence() },
        Fence::Threads { scope: MemoryScope::Cta | MemoryScope::Cluster, .. }
        | Fence::Init
        | Fence::Proxy
        | Fence::AsyncProxy { .. } => Cost::fence(),
    }
}

fn one_word(op: W1) -> Cost {
    match op {
        W1::Not | W1::Not16 | W1::Cnot { .. } | W1::Neg(_) | W1::Abs(_) => Cost::integer(1.0),
        W1::Popc | W1::Clz | W1::Brev | W1::Bfind { .. } => Cost::special(1.0),
        W1::FNeg { .. } | W1::FAbs { .. } => Cost::float(1.0),
        // The exact ones correct an approximation.
        W1::FRcp(_) | W1::FSqrt(_) => Cost::special(8.0),
        W1::RcpApprox { .. }
        | W1::SqrtApprox { .. }
        | W1::RsqrtApprox { .. }
        | W1::SinApprox { .. }
        | W1::CosApprox { .. }
        | W1::Lg2Approx { .. }
        | W1::Ex2Approx { .. }
        | W1::TanhApprox => Cost::special(1.0),
        W1::Half(_, op) | W1::Half2(_, op) => match op {
            NarrowUnary::Neg { .. } | NarrowUnary::Abs { .. } => Cost::float(1.0),
            NarrowUnary::Ex2 { .. } | NarrowUnary::Tanh => Cost::special(1.0),
        },
    }
}

fn two_words(op: W2) -> Cost {
    match op {
        W2::FAdd(_) | W2::FSub(_) | W2::FMul(_) | W2::Half(..) | W2::Half2(..) => Cost::float(1.0),
        W2::FDiv(_) | W2::FDivFull { .. } => Cost::special(9.0),
        W2::FDivApprox { .. } => Cost::special(2.0),
        W2::Add
        | W2::Sub
        | W2::Mul
        | W2::MinS
        | W2::MinU
        | W2::MaxS
        | W2::MaxU
        | W2::And
        | W2::Or
        | W2::Xor
        | W2::Shl
        | W2::ShrS
        | W2::ShrU
        | W2::AddSat
        | W2::SubSat
        | W2::Mul24 { .. }
        | W2::Shl16
        | W2::Shr16(_)
        | W2::Relu(_)
        | W2::Pair { .. }
        | W2::Bmsk(_)
        | W2::Szext { .. }
        | W2::FExtreme(..)
        | W2::FCopysign => Cost::integer(1.0),
        W2::MulHiS | W2::MulHiU => Cost::integer(2.0),
        W2::Int(op, _) => match op {
            IntBinary::MulHi => Cost::integer(2.0),
            IntBinary::Add
            | IntBinary::Sub
            | IntBinary::MulLo
            | IntBinary::MulWide
            | IntBinary::Min
            | IntBinary::Max => Cost::integer(1.0),
        },
    }
}

fn three_words(op: W3) -> Cost {
    match op {
        W3::FFma(_) | W3::Half(..) | W3::Half2(..) => Cost::float(1.0),
        W3::Mad
        | W3::MadHiSat
        | W3::Int(..)
        | W3::Mad24 { .. }
        | W3::Mad24HiSat
        | W3::Lop3(_)
        | W3::Prmt(_)
        | W3::ShfL(_)
        | W3::ShfR(_)
        | W3::Dp4a { .. }
        | W3::Dp2a { .. }
        | W3::FExtreme(..) => Cost::integer(1.0),
        W3::Bfe(_) => Cost::integer(2.0),
        W3::Fns => Cost::integer(60.0),
    }
}

fn one_double(op: D1, device: &Device) -> Cost {
    match op {
        D1::Not | D1::Cnot | D1::Neg | D1::Abs => Cost::integer(2.0),
        D1::Brev => Cost::special(2.0),
        D1::FNeg | D1::FAbs => Cost::integer(1.0),
        D1::FRcp(_) | D1::FSqrt(_) => Cost::double(device, 10.0),
        D1::FRcpApprox | D1::FRsqrtApprox { .. } => Cost::special(1.0),
    }
}

fn two_doubles(op: D2, device: &Device) -> Cost {
    match op {
        D2::Add | D2::Sub | D2::And | D2::Or | D2::Xor => Cost::integer(2.0),
        D2::Mul => Cost::integer(3.0),
        D2::Int(op, _) => match op {
            IntBinary::MulHi => Cost::integer(8.0),
            IntBinary::MulWide | IntBinary::MulLo => Cost::integer(3.0),
            IntBinary::Add | IntBinary::Sub | IntBinary::Min | IntBinary::Max => Cost::integer(2.0),
        },
        D2::FAdd(_) | D2::FSub(_) | D2::FMul(_) | D2::FExtreme(_) => Cost::double(device, 1.0),
        D2::FDiv(_) => Cost::double(device, 12.0),
        D2::FCopysign => Cost::integer(2.0),
        D2::PairAdd(_) | D2::PairSub(_) | D2::PairMul(_) => Cost::float(1.0),
    }
}

/// Registers of A hold a warp's fragment: 32 lanes of 4 bytes, but for f64. Of a sparse product they hold what is multiplied.
fn mma_cost(kind: MmaKind, a: usize, device: &Device) -> Cost {
    let (rows, element_bytes, rate) = match kind {
        MmaKind::Float { a, .. } => {
            let bytes = 4.0 / count(a.per_register());
            (16.0, bytes, 2.0 / bytes)
        }
        MmaKind::Scaled(scaled) => {
            let bits = if scaled.count > 1 { 4.0 } else { 8.0 };
            (16.0, bits / 8.0, 16.0 / bits)
        }
        MmaKind::Int { a, rows, .. } => {
            let bytes = 4.0 / count(a.per_register());
            (f64::from(rows), bytes, 2.0 / bytes)
        }
        MmaKind::Bits { .. } => (16.0, 1.0 / 8.0, 8.0),
        MmaKind::F64 { rows, .. } => (f64::from(rows), 8.0, 1.0 / 16.0),
    };
    let register = if matches!(kind, MmaKind::F64 { .. }) { 256.0 } else { 128.0 };
    let depth = count(a) * register / element_bytes / rows;
    Cost::mma(device, rows * 8.0 * depth, (rate, depth * element_bytes / 32.0))
}

fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).expect("an instruction has few operands"))
}

fn wgmma_cost(op: &Wgmma, device: &Device) -> Cost {
    let product = match op {
        Wgmma::Mma(product) => product,
        Wgmma::Fence | Wgmma::Commit | Wgmma::Wait { .. } => return Cost::issue(Kind::Sync),
    };
    let bytes = count(product.a_type.bytes());
    let columns = f64::from(product.columns);
    let rate = match product.a_type {
        Factor::Float(_) | Factor::Int(_) => 2.0 / bytes,
    };
    let a = match product.a {
        Left::Shared(_) => 64.0 * 32.0,
        Left::Fragments(_) => 0.0,
    };
    let operand_bytes = a + columns * f64::from(product.column_bytes());
    let multiplications = 16.0 * columns * count(product.depth());
    Cost::wgmma(device, multiplications, (rate, operand_bytes))
}
