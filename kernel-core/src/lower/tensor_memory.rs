//! Tensor memory (PTX ISA, "Tensor Memory", "tcgen05.alloc", "tcgen05.ld", "tcgen05.st").
//!
//! A kernel allocates all its columns at once, before it begins, and gives them back when it ends: one warp does both. The address that
//! the allocation gives lies in shared memory, where the warps of every partition read it. Allocations of the kernel follow one
//! another; the upper half of an address is a row, of which each warp adds the first of its quarter.

use std::collections::BTreeMap;

use kernel_layout::{Dim, Layout};
use kernel_ptx::{Instruction, Modifier, Opcode, Operand, Space, Type, Word};
use la_arena::ArenaMap;

use super::coords::ThreadMap;
use super::emitter::{Val, mods};
use super::{Data, Lower};
use crate::ir::{Dtype, Elem, Kernel, TensorMemory, TensorMemoryOp, TensorMemoryType, Value};
use crate::layouts::tensor_memory;

/// The bytes of the word in shared memory that has the address, and what keeps it apart from what follows.
pub(super) const ADDRESS_BYTES: u32 = 16;
/// The fewest columns of an allocation (PTX ISA, "tcgen05.alloc").
const LEAST_COLUMNS: u32 = 32;
/// The most words that one instruction moves for a lane.
const MOST_WORDS: u32 = 128;
/// Where an address has its row.
pub(super) const ROW_SHIFT: u32 = 16;
/// Bits of a word.
const WORD_BITS: u32 = 32;
/// Threads of a warp, less one.
const LANES_MASK: u32 = 31;

/// Where allocations of tensor memory lie.
#[derive(Debug, Default)]
pub(super) struct TensorMemoryPlan {
    /// The first column of each.
    starts: ArenaMap<TensorMemory, u32>,
    layouts: ArenaMap<TensorMemory, Layout>,
    /// What is allocated for all of them: a power of two; 0 where there are none.
    columns: u32,
    /// The address that the allocation gave, in a register of the warps that run what is emitted.
    base: Option<Val>,
}

impl TensorMemoryPlan {
    pub(super) fn of(kernel: &Kernel) -> Self {
        let mut plan = TensorMemoryPlan::default();
        let mut end = 0;
        for (root, data) in kernel.tensor_memory.iter() {
            let layout = tensor_memory::layout(kernel, root)
                .expect("build has checked the layouts of tensor memory");
            plan.starts.insert(root, end);
            end += tensor_memory::columns(&layout, data);
            plan.layouts.insert(root, layout);
        }
        if end > 0 {
            plan.columns = end.next_power_of_two().max(LEAST_COLUMNS);
        }
        plan
    }
}

/// A word of a tile: its column, and the registers of the elements in it.
struct WordOf {
    column: u32,
    registers: Vec<u32>,
}

/// How an instruction moves a tile.
struct Moves {
    words: Vec<WordOf>,
    /// What a thread adds to the address.
    map: ThreadMap,
    /// Of `16x32bx2`: the columns from the first half to the second.
    halves: Option<u32>,
}

impl Lower<'_> {
    /// Allocates the columns of the kernel; the barrier that follows makes the address known.
    pub(super) fn allocate_tensor_memory(&mut self) {
        if self.tensor_memory.columns == 0 {
            return;
        }
        let guard = self.first_warp();
        let address = self.tensor_address_word();
        let columns = Operand::Int(i128::from(self.tensor_memory.columns));
        let alloc = mods![
            Word::Alloc,
            Word::CtaGroup1,
            Word::Sync,
            Word::Aligned,
            Word::SharedCta,
            Type::B32
        ];
        self.e.effect_if(guard, Opcode::Tcgen05, alloc, [address, columns]);
        let relinquish =
            mods![Word::RelinquishAllocPermit, Word::CtaGroup1, Word::Sync, Word::Aligned];
        self.e.effect_if(guard, Opcode::Tcgen05, relinquish, []);
        self.tcgen05_fence(Word::FenceBeforeThreadSync);
    }

    /// Whether the kernel has tensor memory.
    pub(super) fn has_tensor_memory(&self) -> bool {
        self.tensor_memory.columns > 0
    }

    /// Reads the address of the kernel's columns, behind the barrier at which it has become known.
    pub(super) fn find_tensor_memory(&mut self) {
        if self.tensor_memory.columns == 0 {
            return;
        }
        self.tcgen05_fence(Word::FenceAfterThreadSync);
        let address = self.tensor_address_word();
        let elem = Elem::Number(Dtype::U32);
        let base = self.e.load(Space::Shared, elem, 1, address, Val::Int(1), None)[0];
        self.tensor_memory.base = Some(base);
    }

    /// Gives the columns back, when all warps are done with them.
    pub(super) fn release_tensor_memory(&mut self) {
        if self.tensor_memory.columns == 0 {
            return;
        }
        self.tcgen05_fence(Word::FenceBeforeThreadSync);
        self.barrier();
        self.tcgen05_fence(Word::FenceAfterThreadSync);
        let guard = self.first_warp();
        let base = Operand::Reg(self.tensor_base());
        let columns = Operand::Int(i128::from(self.tensor_memory.columns));
        let dealloc = mods![Word::Dealloc, Word::CtaGroup1, Word::Sync, Word::Aligned, Type::B32];
        self.e.effect_if(guard, Opcode::Tcgen05, dealloc, [base, columns]);
    }

    pub(super) fn tcgen05_fence(&mut self, word: Word) {
        self.e.effect(Opcode::Tcgen05, mods![word], []);
    }

    /// The guard of the first of the warps that run what is emitted.
    fn first_warp(&mut self) -> Option<kernel_ptx::Guard> {
        let first = self.e.first_of((self.e.threads - 1) & !LANES_MASK);
        self.e.guard(first)
    }

    fn tensor_address_word(&mut self) -> Operand {
        let base = self.shared_base();
        self.e.at(base, i64::from(self.plan.tensor_address()))
    }

    fn tensor_base(&mut self) -> kernel_ptx::Reg {
        let base = self.tensor_memory.base.expect("read where the warps begin");
        self.e.reg(base, Type::B32)
    }

    pub(super) fn tensor_memory_op(
        &mut self,
        op: TensorMemoryOp,
        args: &[Value],
        result: Option<Value>,
    ) -> Option<Data> {
        match op {
            TensorMemoryOp::Alloc(_) => Some(Data::Window(Val::Int(0))),
            TensorMemoryOp::Index => Some(Data::Window(self.tensor_memory_index(args[0], args[1]))),
            TensorMemoryOp::Load => {
                let result = super::target(result);
                Some(Data::Tile(self.tensor_memory_load(args[0], result)))
            }
            TensorMemoryOp::Store => {
                self.tensor_memory_store(args[0], args[1]);
                None
            }
        }
    }

    /// The type of a window of tensor memory.
    pub(super) fn tensor_memory_type(&self, window: Value) -> &TensorMemoryType {
        match self.kernel.ty(window) {
            crate::ir::Type::TensorMemory(ty) => ty,
            crate::ir::Type::Scalar(_)
            | crate::ir::Type::Tile(..)
            | crate::ir::Type::Shared(_)
            | crate::ir::Type::Barrier(_)
            | crate::ir::Type::Error => {
                unreachable!("ir::verify rejects what is no tensor memory here")
            }
        }
    }

    /// The layout of the tiles of an allocation.
    pub(super) fn tensor_memory_layout(&self, root: TensorMemory) -> &Layout {
        &self.tensor_memory.layouts[root]
    }

    /// One of several tiles: the column.
    fn tensor_memory_index(&mut self, window: Value, index: Value) -> Val {
        let root = self.tensor_memory_type(window).root;
        let data = &self.kernel.tensor_memory[root];
        let step = tensor_memory::tile_columns(self.tensor_memory_layout(root), data);
        let index = self.scalar(index);
        self.e.mul(Type::S32, index, Val::Int(i64::from(step)))
    }

    /// The address of a place in a window, given as what is added to its first: rows in the upper half, columns in the lower. `more` is
    /// added to it.
    pub(super) fn tensor_memory_address(
        &mut self,
        window: Value,
        place: u32,
        more: Val,
    ) -> Operand {
        let root = self.tensor_memory_type(window).root;
        let start = i64::from(self.tensor_memory.starts[root] + place);
        let (offset, known) = match self.window(window) {
            Val::Int(known) => (Val::Int(0), known),
            offset @ (Val::Reg(_) | Val::F32(_) | Val::F64(_)) => (offset, 0),
        };
        let base = Val::Reg(self.tensor_base());
        let base = self.e.add(Type::U32, base, more);
        let base = self.e.add(Type::U32, base, offset);
        self.e.at(base, start + known)
    }

    /// How a tile in registers meets the words of its window.
    fn moves(&self, window: Value, registers: &Layout) -> Moves {
        let ty = self.tensor_memory_type(window);
        let bits = ty.dtype.bytes() * 8;
        let memory = self.tensor_memory_layout(ty.root);
        let inverse = memory.pseudo_inverse().expect("tensor memory holds every element");
        let places = registers.compose(&inverse);
        let row = places.out_dims().position(|dim| dim == Dim::Row).expect("it has rows");
        let column = 1 - row;
        let word = |element: u32| element * bits / WORD_BITS;
        let mut words: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for register in 0..registers.in_size(Dim::Register) {
            let at = super::coords::register_part(&places, register, column);
            words.entry(word(at)).or_default().push(register);
        }
        let mut halves = None;
        let mut bases = Vec::new();
        for basis in places.bases(Dim::Lane) {
            if basis[column] > 0 {
                halves = Some(word(basis[column]));
            }
            bases.push(0);
        }
        bases.resize(5, 0);
        for basis in places.bases(Dim::Warp) {
            bases.push(basis[row] << ROW_SHIFT | word(basis[column]));
        }
        let words =
            words.into_iter().map(|(column, registers)| WordOf { column, registers }).collect();
        Moves { words, map: ThreadMap::new(bases), halves }
    }

    /// The runs of words that one instruction moves each.
    fn runs(moves: &Moves) -> Vec<&[WordOf]> {
        let mut runs = Vec::new();
        let mut rest = &moves.words[..];
        while let Some(first) = rest.first() {
            let next = |(index, word): (u32, &WordOf)| word.column == first.column + index;
            let all = (0..).zip(rest).take_while(|one| next(*one)).count();
            let all = u32::try_from(all).expect("there are 512 columns").min(MOST_WORDS);
            let (run, others) = rest.split_at(1 << all.ilog2());
            runs.push(run);
            rest = others;
        }
        runs
    }

    /// The modifiers of an instruction that moves a run of words.
    fn move_modifiers(moves: &Moves, word: Word, run: usize) -> Vec<Modifier> {
        let shape = if moves.halves.is_some() { Word::S16x32bx2 } else { Word::S32x32b };
        let count = format!("x{run}");
        let count = *Word::ALL
            .iter()
            .find(|word| word.text() == count)
            .expect("runs are powers of two up to 128");
        mods![word, Word::Sync, Word::Aligned, shape, count, Type::B32].to_vec()
    }

    /// Reads a window into registers, and waits for them.
    fn tensor_memory_load(&mut self, window: Value, result: Value) -> Vec<Val> {
        let layout = self.layout(result).clone();
        let dtype = self.tensor_memory_type(window).dtype;
        let moves = self.moves(window, &layout);
        let more = self.e.thread_map(&moves.map);
        let mut values = vec![Val::Int(0); layout.in_size(Dim::Register) as usize];
        let mut loaded = Vec::new();
        for run in Self::runs(&moves) {
            let address = self.tensor_memory_address(window, run[0].column, more);
            let ty = if dtype == Dtype::F32 { Type::F32 } else { Type::B32 };
            let registers: Vec<_> = run.iter().map(|_| self.e.fresh(ty)).collect();
            let list = registers.iter().map(|&register| Operand::Reg(register)).collect();
            let mut operands = vec![Operand::Vector(list), address];
            operands.extend(moves.halves.map(|columns| Operand::Int(i128::from(columns))));
            let modifiers = Self::move_modifiers(&moves, Word::LdWord, run.len());
            self.e.push(Instruction::new(Opcode::Tcgen05, modifiers, operands), 1, true);
            loaded.extend(registers.into_iter().zip(run));
        }
        self.e.effect(Opcode::Tcgen05, mods![Word::WaitLd, Word::Sync, Word::Aligned], []);
        for (register, word) in loaded {
            let elements = match dtype.bytes() {
                2 => self.e.unpack(Val::Reg(register)).to_vec(),
                _ => vec![Val::Reg(register)],
            };
            for (&register, element) in word.registers.iter().zip(elements) {
                values[register as usize] = element;
            }
        }
        values
    }

    /// Writes a tile to a window, and waits until it is there.
    fn tensor_memory_store(&mut self, window: Value, value: Value) {
        let layout = self.layout(value).clone();
        let moves = self.moves(window, &layout);
        let more = self.e.thread_map(&moves.map);
        let values = self.tile(value).to_vec();
        let halves = self.tensor_memory_type(window).dtype.bytes() == 2;
        for run in Self::runs(&moves) {
            let words: Vec<Operand> = run
                .iter()
                .map(|word| {
                    let of = |index: usize| values[word.registers[index] as usize];
                    let packed = match word.registers.len() {
                        2 => self.e.pack(of(0), of(1)),
                        // A half that has its column to itself.
                        1 if halves => self.e.pack(of(0), Val::Int(0)),
                        _ => of(0),
                    };
                    Operand::Reg(self.e.reg(packed, Type::B32))
                })
                .collect();
            let address = self.tensor_memory_address(window, run[0].column, more);
            let mut operands = vec![address];
            operands.extend(moves.halves.map(|columns| Operand::Int(i128::from(columns))));
            operands.push(Operand::Vector(words));
            let modifiers = Self::move_modifiers(&moves, Word::StWord, run.len());
            self.e.push(Instruction::new(Opcode::Tcgen05, modifiers, operands), 0, true);
        }
        self.e.effect(Opcode::Tcgen05, mods![Word::WaitSt, Word::Sync, Word::Aligned], []);
    }
}
