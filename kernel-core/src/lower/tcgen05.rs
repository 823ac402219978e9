//! Products whose sums lie in tensor memory, and what says that they are done (PTX ISA, "tcgen05.mma",
//! "tcgen05.commit").
//!
//! One thread of the partition starts all of them, always the same one: a commit speaks of what its own thread has started.

use kernel_layout::wgmma::{INSTRUCTION_K_BYTES, Major, Operand as Read, descriptor};
use kernel_layout::{Dim, Layout};
use kernel_ptx::{Instruction, Modifier, Opcode, Operand, Type, Word};

use super::Lower;
use super::coords::ThreadMap;
use super::emitter::{Place, Val, mods};
use super::tensor_memory::ROW_SHIFT;
use crate::ir::{self, Dtype, Tcgen05, Value};
use crate::layouts::tensor_core;
use crate::layouts::warpgroup::Side;

/// A descriptor holds addresses in units of so many bytes.
const LOG2_UNIT: u32 = 4;
/// The bits of an address that a descriptor holds (PTX ISA, "Shared memory descriptor").
const ADDRESS_BITS: i64 = 0x3_FFFF;
/// What a descriptor of this generation has in bits 46 to 48 (PTX ISA, "Shared memory descriptor": fixed constant).
const VERSION: i64 = 1 << 46;

/// An operand in shared memory: how it is read, and its first descriptor.
struct Described {
    read: Read,
    first: Val,
}

/// Where a product finds its left operand.
enum Left {
    Shared(Described),
    TensorMemory,
}

impl Lower<'_> {
    pub(super) fn tcgen05(&mut self, op: Tcgen05, args: &[Value]) {
        match op {
            Tcgen05::Mma => self.tcgen05_mma(args),
            Tcgen05::Commit => self.tcgen05_commit(args[0]),
            Tcgen05::FenceBefore => self.tcgen05_fence(Word::FenceBeforeThreadSync),
            Tcgen05::FenceAfter => self.tcgen05_fence(Word::FenceAfterThreadSync),
        }
    }

    /// The barrier hears of the end of what the thread has started.
    fn tcgen05_commit(&mut self, barrier: Value) {
        let first = self.e.first_of(self.e.threads - 1);
        let guard = self.e.guard(first);
        let address = self.barrier_address(barrier);
        let commit = mods![
            Word::Commit,
            Word::CtaGroup1,
            Word::MbarrierArriveOne,
            Word::SharedCluster,
            Type::B64
        ];
        self.e.effect_if(guard, Opcode::Tcgen05, commit, [address.clone()]);
        self.arrive_for_the_rest(barrier, guard, address);
    }

    /// Starts `a · b + acc`.
    fn tcgen05_mma(&mut self, args: &[Value]) {
        let root = self.tensor_memory_type(args[2]).root;
        let block = tensor_core::block(self.kernel, root);
        let [rows, columns] = [block.rows, block.columns];
        let right = self.described_for_mma(args[1], Side::Right, columns);
        let left = match self.kernel.ty(args[0]) {
            ir::Type::TensorMemory(_) => Left::TensorMemory,
            ir::Type::Shared(_)
            | ir::Type::Scalar(_)
            | ir::Type::Tile(..)
            | ir::Type::Barrier(_)
            | ir::Type::Error => Left::Shared(self.described_for_mma(args[0], Side::Left, rows)),
        };
        let factors = tensor_core::factors(self.kernel, args);
        let sum = self.tensor_memory_type(args[2]).dtype;
        let shape = self.tensor_memory_type(args[2]).shape.clone();
        let depth = self.shared_type(args[1]).shape[0];
        let step = INSTRUCTION_K_BYTES / factors[0].bytes();
        let majors = [
            match &left {
                Left::Shared(left) => left.read.major,
                Left::TensorMemory => Major::K,
            },
            right.read.major,
        ];
        let bits = tensor_core::instruction(block, factors, sum, majors);
        let instruction = Val::Int(i64::from(bits));
        let instruction = Operand::Reg(self.e.reg(instruction, Type::B32));
        let first = self.e.first_of(self.e.threads - 1);
        let guard = self.e.guard(first);
        let adds = self.scalar(args[3]);
        let adds = Operand::Reg(self.e.reg(adds, Type::Pred));
        let always = Operand::Reg(self.e.reg(Val::Int(1), Type::Pred));
        let kind = kind(factors[0]);
        let modifiers: Vec<Modifier> = mods![Word::MmaWord, Word::CtaGroup1, kind].to_vec();
        let memory = self.tensor_memory_layout(root).clone();
        let element_bits = sum.bytes() * 8;
        for row in (0..shape[0]).step_by(rows as usize) {
            for column in (0..shape[1]).step_by(columns as usize) {
                let at = place_of(&memory, [row, column], element_bits);
                let sums = self.tensor_memory_address(args[2], at, Val::Int(0));
                for k in (0..depth).step_by(step as usize) {
                    let a = match &left {
                        Left::Shared(left) => self.advanced_for_mma(left, row, k),
                        Left::TensorMemory => {
                            let root = self.tensor_memory_type(args[0]).root;
                            let layout = self.tensor_memory_layout(root).clone();
                            let at = place_of(&layout, [row, k], factors[0].bytes() * 8);
                            self.tensor_memory_address(args[0], at, Val::Int(0))
                        }
                    };
                    let b = self.advanced_for_mma(&right, column, k);
                    let enabled = if k == 0 { adds.clone() } else { always.clone() };
                    let operands = vec![sums.clone(), a, b, instruction.clone(), enabled];
                    let mut inst = Instruction::new(Opcode::Tcgen05, modifiers.clone(), operands);
                    inst.guard = guard;
                    self.e.push(inst, 0, true);
                }
            }
        }
    }

    /// How an instruction reads an operand in shared memory, and the descriptor of the first.
    fn described_for_mma(&mut self, window: Value, side: Side, width: u32) -> Described {
        let ty = self.shared_type(window).clone();
        let read = tensor_core::read(self.plan.layouts, &ty, side, width)
            .expect("layouts::tensor_core has refused what no descriptor describes");
        let bits = descriptor(&read).cast_signed() | VERSION;
        let still = ThreadMap::new(Vec::new());
        let (value, constant) = self.shared_address(window, &still, 0);
        let clustered = self.kernel.cluster != [1; 3];
        let first = self.e.placed(Place::Outermost, |e| {
            let mut address = e.add(Type::U32, value, Val::Int(constant));
            if clustered {
                // The upper bits say which block of the cluster it belongs to; a descriptor has no place for them.
                address = e.and(Type::B32, address, Val::Int(ADDRESS_BITS));
            }
            let unit = e.shr(Type::U32, address, LOG2_UNIT);
            let unit = Val::Reg(e.reg(unit, Type::B32));
            let wide = e.pure(Opcode::Cvt, mods![Type::U64, Type::U32], Type::B64, &[unit]);
            e.pure(Opcode::Or, mods![Type::B64], Type::B64, &[wide, Val::Int(bits)])
        });
        Described { read, first }
    }

    /// The descriptor of what an instruction reads, `at` rows or columns and `k` elements of the depth further on.
    fn advanced_for_mma(&mut self, operand: &Described, at: u32, k: u32) -> Operand {
        let units = i64::from(operand.read.start_bytes(at, k) >> LOG2_UNIT);
        let moved = self.e.placed(Place::Outermost, |e| {
            if units == 0 {
                return operand.first;
            }
            e.pure(Opcode::Add, mods![Type::U64], Type::B64, &[operand.first, Val::Int(units)])
        });
        Operand::Reg(self.e.reg(moved, Type::B64))
    }
}

/// Where an element of a tile lies, as it is added to an address: the row in the upper half, the column of 32 bits in the lower one.
///
/// A block of 64 rows leaves every other 16 rows to the next block (PTX ISA, "tcgen05.mma: Data path layout").
fn place_of(memory: &Layout, [row, column]: [u32; 2], element_bits: u32) -> u32 {
    let inverse = memory.pseudo_inverse().expect("tensor memory holds every element");
    let at = inverse.apply(&[(Dim::Axis(0), row), (Dim::Axis(1), column)]);
    let of = |dim| inverse.out_dims().position(|one| one == dim).map_or(0, |place| at[place]);
    (of(Dim::Row) << ROW_SHIFT) + of(Dim::Col) * element_bits / 32
}

/// The kind of a product (PTX ISA, "tcgen05.mma: kinds").
fn kind(factor: Dtype) -> Word {
    match factor {
        Dtype::F16 | Dtype::Bf16 => Word::KindF16,
        Dtype::F32 => Word::KindTf32,
        Dtype::E4m3 | Dtype::E5m2 => Word::KindF8f6f4,
        Dtype::I8 | Dtype::U8 => Word::KindI8,
        Dtype::Bool
        | Dtype::I16
        | Dtype::I32
        | Dtype::I64
        | Dtype::U16
        | Dtype::U32
        | Dtype::U64
        | Dtype::F64 => unreachable!("build refuses products of these types"),
    }
}
