//! Tensor memory (PTX ISA, "Tensor Memory", "tcgen05.alloc", "tcgen05.ld", "tcgen05.st").
//!
//! A kernel allocates all its columns at once at its start, and frees them at its end: one warp does both. The address that
//! the allocation gives is in shared memory, where the warps of every partition read it. Allocations of the kernel follow one
//! another; the upper half of an address is a row, of which each warp adds the first of its quarter.

use kernel_layout::forms::{TensorMemoryMoves, TensorMemoryUnit, TmemAtom};
use kernel_layout::tensor_copy::RowsHeld;
use kernel_layout::{Dim, Layout};
use kernel_ptx::{Instruction, Modifier, Opcode, Operand, Space, Type, Word};
use la_arena::ArenaMap;

use super::emitter::{Val, mods};
use super::tiles::coords::ThreadMap;
use super::{Data, Lower};
use crate::ir::{
    CtaGroup, Dtype, Elem, Kernel, TensorMemory, TensorMemoryOp, TensorMemoryType, Value,
};
use crate::layouts::tensor_memory;

mod tensor_copy;

/// The bytes of the word in shared memory that has the address, and what keeps it apart from what follows.
pub(crate) const ADDRESS_BYTES: u32 = 16;
/// The most words that one instruction moves for a lane.
const MOST_WORDS: usize = 128;
/// Where an address has its row.
pub(crate) const ROW_SHIFT: u32 = 16;
/// Bits of a lane's number.
const LANE_BITS: usize = 5;
/// Threads of a warp, less one.
const LANES_MASK: u32 = 31;

/// Where allocations of tensor memory are.
#[derive(Debug)]
pub(crate) struct TensorMemoryPlan {
    /// Whose they are.
    group: CtaGroup,
    /// The first column of each.
    starts: ArenaMap<TensorMemory, u32>,
    layouts: ArenaMap<TensorMemory, Layout>,
    /// What is allocated for all of them: a power of two; 0 if there are none.
    columns: u32,
    /// The address that the allocation gave, in a register of the warps that run what is emitted.
    base: Option<Val>,
}

impl TensorMemoryPlan {
    pub(crate) fn of(kernel: &Kernel) -> Self {
        let mut plan = TensorMemoryPlan {
            group: kernel.cta_group(),
            starts: ArenaMap::default(),
            layouts: ArenaMap::default(),
            columns: 0,
            base: None,
        };
        let mut end = 0;
        for (root, data) in kernel.tensor_memory.iter() {
            let layout = tensor_memory::layout(kernel, root)
                .expect("elaborate has checked the layouts of tensor memory");
            // A view comes after what it is one of.
            let start = data
                .of
                .map_or_else(|| tensor_memory::start(kernel, root, end), |of| plan.starts[of]);
            plan.starts.insert(root, start);
            if data.of.is_none() {
                end = start + tensor_memory::columns(&layout, data);
            }
            plan.layouts.insert(root, layout);
        }
        plan.columns = tensor_memory::allocated(kernel);
        plan
    }
}

impl Lower<'_> {
    /// Allocates the columns of the kernel; the barrier that follows makes the address known.
    pub(crate) fn allocate_tensor_memory(&mut self) {
        if self.tensor_memory.columns == 0 {
            return;
        }
        let guard = self.first_warp();
        let address = self.tensor_address_word();
        let columns = Operand::Int(i128::from(self.tensor_memory.columns));
        let alloc = mods![
            Word::Alloc,
            self.cta_group(),
            Word::Sync,
            Word::Aligned,
            Word::SharedCta,
            Type::B32
        ];
        self.e.effect_if(guard, Opcode::Tcgen05, alloc, [address, columns]);
        let relinquish =
            mods![Word::RelinquishAllocPermit, self.cta_group(), Word::Sync, Word::Aligned];
        self.e.effect_if(guard, Opcode::Tcgen05, relinquish, []);
        self.tcgen05_fence(Word::FenceBeforeThreadSync);
    }

    /// Whose tensor cores the instructions are for.
    pub(crate) const fn cta_group(&self) -> Word {
        match self.tensor_memory.group {
            CtaGroup::One => Word::CtaGroup1,
            CtaGroup::Pair => Word::CtaGroup2,
        }
    }

    /// Whether the kernel has tensor memory.
    pub(crate) fn has_tensor_memory(&self) -> bool {
        self.tensor_memory.columns > 0
    }

    /// Reads the address of the kernel's columns, after the barrier at which it has become known.
    pub(crate) fn find_tensor_memory(&mut self) {
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
    pub(crate) fn release_tensor_memory(&mut self) {
        if self.tensor_memory.columns == 0 {
            return;
        }
        self.tcgen05_fence(Word::FenceBeforeThreadSync);
        match self.tensor_memory.group {
            CtaGroup::One => self.barrier(),
            // Neither block's tensor memory goes while the other one may still use it.
            CtaGroup::Pair => self.cluster_sync(),
        }
        self.tcgen05_fence(Word::FenceAfterThreadSync);
        let guard = self.first_warp();
        let base = Operand::Reg(self.tensor_base());
        let columns = Operand::Int(i128::from(self.tensor_memory.columns));
        let dealloc = mods![Word::Dealloc, self.cta_group(), Word::Sync, Word::Aligned, Type::B32];
        self.e.effect_if(guard, Opcode::Tcgen05, dealloc, [base, columns]);
    }

    pub(crate) fn tcgen05_fence(&mut self, word: Word) {
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

    pub(crate) fn tensor_memory_op(
        &mut self,
        op: TensorMemoryOp,
        args: &[Value],
        result: Option<Value>,
    ) -> Option<Data> {
        match op {
            TensorMemoryOp::Alloc(_) => Some(Data::Window(Val::Int(0))),
            TensorMemoryOp::Index => Some(Data::Window(self.tensor_memory_index(args[0], args[1]))),
            TensorMemoryOp::Tile(at) => Some(Data::Window(self.tensor_memory_part(args[0], at))),
            // Of a tile: which columns it has, says the window.
            TensorMemoryOp::View(_) => Some(Data::Window(self.window(args[0]))),
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
    pub(crate) fn tensor_memory_type(&self, window: Value) -> &TensorMemoryType {
        self.kernel
            .ty(window)
            .tensor_memory()
            .expect("ir::verify rejects what is not tensor memory here")
    }

    /// The layout of the tiles of an allocation.
    pub(crate) fn tensor_memory_layout(&self, root: TensorMemory) -> &Layout {
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

    /// A part of a tile: where it begins.
    fn tensor_memory_part(&mut self, window: Value, at: [u32; 2]) -> Val {
        let ty = self.tensor_memory_type(window);
        let memory = tensor_memory::window(self.kernel, ty)
            .expect("elaborate has checked the parts of tiles in tensor memory");
        let [row, column] = tensor_memory::place(&memory, at, ty.dtype.bytes());
        let from = self.window(window);
        self.e.add(Type::U32, from, Val::Int(i64::from(row << ROW_SHIFT | column)))
    }

    /// The address of a place in a window, given as what is added to its first: rows in the upper half, columns in the lower. `more` is
    /// added to it.
    pub(crate) fn tensor_memory_address(
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

    /// How a tile in registers and its window are moved into one another.
    fn moves(&self, window: Value, registers: &Layout) -> TensorMemoryMoves {
        tensor_memory::moves(self.kernel, self.tensor_memory_type(window), registers)
            .expect("layouts gives tiles of tensor memory what an instruction moves")
    }

    /// What a thread adds to an address.
    fn tensor_memory_reach(&mut self, moves: &TensorMemoryMoves) -> Val {
        let mut bases = vec![0; LANE_BITS];
        bases.extend(moves.warps.iter().map(|[row, column]| row << ROW_SHIFT | column));
        self.e.thread_map(&ThreadMap::new(bases))
    }

    /// Reads a window into registers, and waits for them.
    fn tensor_memory_load(&mut self, window: Value, result: Value) -> Vec<Val> {
        let layout = self.layout(result).clone();
        let dtype = self.tensor_memory_type(window).dtype;
        let moves = self.moves(window, &layout);
        let more = self.tensor_memory_reach(&moves);
        let mut values = vec![Val::Int(0); layout.in_size(Dim::Register) as usize];
        let mut loaded = Vec::new();
        let ty = if dtype == Dtype::F32 { Type::F32 } else { Type::B32 };
        for run in runs(&moves) {
            let address = self.tensor_memory_address(window, place(run), more);
            let words = || run.iter().flat_map(|unit| &unit.words);
            let registers: Vec<_> = words().map(|_| self.e.fresh(ty)).collect();
            let list = registers.iter().map(|&register| Operand::Reg(register)).collect();
            let mut operands = vec![Operand::Vector(list), address];
            operands.extend(moves.halves.map(|columns| Operand::Int(i128::from(columns))));
            let modifiers = modifiers(&moves, Word::LdWord, run.len());
            self.e.push(Instruction::new(Opcode::Tcgen05, modifiers, operands), 1, true);
            loaded.extend(registers.into_iter().zip(words()));
        }
        self.e.effect(Opcode::Tcgen05, mods![Word::WaitLd, Word::Sync, Word::Aligned], []);
        let root = self.tensor_memory_type(window).root;
        let held = tensor_memory::held(self.kernel, root);
        for (register, word) in loaded {
            let register = match held {
                RowsHeld::All => Val::Reg(register),
                RowsHeld::FirstOfWarps => {
                    // The other lanes have read rows that hold nothing.
                    self.e.shuffle(Val::Reg(register), Word::Idx, Val::Int(0), ty)
                }
            };
            let elements = self.elements_of_word(dtype, register);
            for (&at, element) in word.iter().zip(elements) {
                values[at as usize] = element;
            }
        }
        values
    }

    /// The elements of a word of tensor memory, lowest first.
    fn elements_of_word(&mut self, dtype: Dtype, word: Val) -> Vec<Val> {
        match dtype.bytes() {
            1 => self.e.unpack_bytes(dtype, word).to_vec(),
            2 if dtype.is_float() => self.e.unpack(word).to_vec(),
            // Integers of 16 bits have registers of 32, as those of 8 have.
            2 => [0, 16]
                .map(|bits| {
                    let element = self.e.shr(Type::U32, word, bits);
                    self.e.extend(dtype, element)
                })
                .to_vec(),
            _ => vec![word],
        }
    }

    /// Writes a tile to a window, and waits until it is there. Of warps that hold the same of it in the same rows, one writes.
    fn tensor_memory_store(&mut self, window: Value, value: Value) {
        let layout = self.layout(value).clone();
        let moves = self.moves(window, &layout);
        let copied = moves.warps.iter().enumerate().filter(|(_, place)| **place == [0, 0]);
        let first = self.e.first_of(copied.map(|(bit, _)| 1 << (LANE_BITS + bit)).sum());
        let guard = self.e.guard(first);
        let more = self.tensor_memory_reach(&moves);
        let values = self.tile(value).to_vec();
        let dtype = self.tensor_memory_type(window).dtype;
        for run in runs(&moves) {
            let words: Vec<Operand> = run
                .iter()
                .flat_map(|unit| &unit.words)
                .map(|word| {
                    // An element that has its column to itself leaves the rest of it zero.
                    let of = |index: usize| match word.get(index) {
                        Some(&register) => values[register as usize],
                        None => Val::Int(0),
                    };
                    let packed = match dtype.bytes() {
                        1 => self.e.pack_bytes([0, 1, 2, 3].map(of)),
                        2 if dtype.is_float() => self.e.pack(of(0), of(1)),
                        2 => self.e.pack_low_halves(of(0), of(1)),
                        _ => of(0),
                    };
                    Operand::Reg(self.e.reg(packed, Type::B32))
                })
                .collect();
            let address = self.tensor_memory_address(window, place(run), more);
            let mut operands = vec![address];
            operands.extend(moves.halves.map(|columns| Operand::Int(i128::from(columns))));
            operands.push(Operand::Vector(words));
            let modifiers = modifiers(&moves, Word::StWord, run.len());
            let mut inst = Instruction::new(Opcode::Tcgen05, modifiers, operands);
            inst.guard = guard;
            self.e.push(inst, 0, true);
        }
        self.e.effect(Opcode::Tcgen05, mods![Word::WaitSt, Word::Sync, Word::Aligned], []);
    }
}

/// The runs of units that one instruction moves each.
fn runs(moves: &TensorMemoryMoves) -> Vec<&[TensorMemoryUnit]> {
    let columns = unit_columns(moves.atom);
    let mut runs = Vec::new();
    let mut rest = &moves.units[..];
    while let Some(first) = rest.first() {
        let next = |(index, unit): (u32, &TensorMemoryUnit)| {
            unit.row == first.row && unit.column == first.column + index * columns
        };
        let all = (0..).zip(rest).take_while(|one| next(*one)).count();
        let all = all.min(MOST_WORDS / first.words.len());
        let (run, others) = rest.split_at(1 << all.ilog2());
        runs.push(run);
        rest = others;
    }
    runs
}

/// Where a run begins, as it is added to an address.
fn place(run: &[TensorMemoryUnit]) -> u32 {
    run[0].row << ROW_SHIFT | run[0].column
}

/// The columns of 32 bits that an atom moves (PTX ISA, "tcgen05.ld and tcgen05.st matrix shapes").
fn unit_columns(atom: TmemAtom) -> u32 {
    match atom {
        TmemAtom::M32x32b | TmemAtom::M16x32bx2 => 1,
        TmemAtom::M16x64b => 2,
        TmemAtom::M16x128b => 4,
        TmemAtom::M16x256b => 8,
    }
}

/// The modifiers of an instruction that moves this many units.
fn modifiers(moves: &TensorMemoryMoves, word: Word, units: usize) -> Vec<Modifier> {
    let shape = match moves.atom {
        TmemAtom::M32x32b => Word::S32x32b,
        TmemAtom::M16x64b => Word::S16x64b,
        TmemAtom::M16x128b => Word::S16x128b,
        TmemAtom::M16x256b => Word::S16x256b,
        TmemAtom::M16x32bx2 => Word::S16x32bx2,
    };
    let count = format!("x{units}");
    let count = *Word::ALL
        .iter()
        .find(|word| word.text() == count)
        .expect("runs are powers of two up to 128");
    mods![word, Word::Sync, Word::Aligned, shape, count, Type::B32].to_vec()
}
