//! Products whose accumulator is in tensor memory, and their commits (PTX ISA, "tcgen05.mma",
//! "tcgen05.commit").
//!
//! One thread of the partition starts all of them, always the same one: a commit covers only what its own thread has started.

use kernel_layout::Layout;
use kernel_layout::wgmma::{INSTRUCTION_K_BYTES, Major};
use kernel_ptx::{Capability, Instruction, Modifier, Opcode, Operand, Type, Word};

use super::matrix_descriptor::Described;
use crate::ir::{self, CtaGroup, Dtype, Multiplied, Scaled, Sparsity, Tcgen05, Value};
use crate::layouts::wgmma::{self, Generation, Side};
use crate::layouts::{tcgen05, tensor_memory};
use crate::lower::Lower;
use crate::lower::emitter::{Val, mods};
use crate::lower::tensor_memory::ROW_SHIFT;
use crate::lower::tiles::coords::ThreadMap;

/// Where a product finds its left operand.
enum Left {
    Shared(Described),
    TensorMemory,
}

impl Lower<'_> {
    pub(crate) fn tcgen05(&mut self, op: Tcgen05, args: &[Value]) {
        match op {
            Tcgen05::Mma { group, multiplied, .. } => {
                self.tcgen05_mma(op, (group, multiplied), args);
            }
            Tcgen05::Copy { .. } => self.tensor_copy(op, args),
            Tcgen05::Commit { .. } => self.tcgen05_commit(op, args),
            Tcgen05::FenceBefore => self.tcgen05_fence(Word::FenceBeforeThreadSync),
            Tcgen05::FenceAfter => self.tcgen05_fence(Word::FenceAfterThreadSync),
        }
    }

    /// The one thread that starts an operation, if its condition holds: a predicate, 0 for none. Of a pair it is one of the block of even rank.
    pub(crate) fn starts(&mut self, op: Tcgen05, args: &[Value]) -> Val {
        let mut starts = self.e.first_of(self.e.threads - 1);
        if self.cta_group() == Word::CtaGroup2 {
            let rank = self.cluster_rank();
            let odd = self.e.and(Type::B32, rank, Val::Int(1));
            let leads = self.e.compare(Word::Eq, Type::S32, odd, Val::Int(0));
            starts = self.e.and(Type::Pred, starts, leads);
        }
        let condition = op.condition(args).map_or(Val::Int(1), |value| self.scalar(value));
        self.e.and(Type::Pred, starts, condition)
    }

    /// A commit: the barrier is signalled when everything that the thread has started is done, in each block of the mask.
    fn tcgen05_commit(&mut self, op: Tcgen05, args: &[Value]) {
        let starts = self.starts(op, args);
        if starts == Val::Int(0) {
            return;
        }
        let guard = self.e.guard(starts);
        let barrier = args[0];
        let address = self.barrier_address(barrier);
        let mut commit = mods![
            Word::Commit,
            self.cta_group(),
            Word::MbarrierArriveOne,
            Word::SharedCluster,
            Type::B64
        ]
        .to_vec();
        let Some(mask) = op.mask(args).map(|mask| self.multicast_mask(mask)) else {
            self.e.effect_if(guard, Opcode::Tcgen05, &commit, [address.clone()]);
            self.arrive_for_the_rest(barrier, guard, address);
            return;
        };
        commit.insert(commit.len() - 1, Word::MulticastCluster.into());
        // If partitions arrive warp by warp, so does a commit: the other blocks' barriers count as this one's.
        for _ in 0..self.weight_of(barrier) {
            self.e.effect_if(guard, Opcode::Tcgen05, &commit, [address.clone(), mask.clone()]);
        }
    }

    /// Starts `a · b + acc`.
    fn tcgen05_mma(
        &mut self,
        op: Tcgen05,
        (group, multiplied): (CtaGroup, Multiplied),
        args: &[Value],
    ) {
        let scaled = multiplied.scaled();
        let sparse = multiplied == Multiplied::Sparse;
        let starts = self.starts(op, args);
        if starts == Val::Int(0) {
            return;
        }
        let root = self.tensor_memory_type(args[2]).root;
        let block = tcgen05::block(self.kernel, self.tensor_memory_type(args[2]));
        let [rows, columns] = [block.rows, block.columns];
        let widths = block.widths(group);
        let right = self.factor_of_a_block(args[1], Side::Right, (widths[1], multiplied));
        let left = match self.kernel.ty(args[0]) {
            ir::Type::TensorMemory(_) => Left::TensorMemory,
            ir::Type::Shared(_)
            | ir::Type::Scalar(_)
            | ir::Type::Tile(..)
            | ir::Type::Barrier(_)
            | ir::Type::Error => {
                Left::Shared(self.factor_of_a_block(args[0], Side::Left, (widths[0], multiplied)))
            }
        };
        let factors = wgmma::factors(self.kernel, args);
        let sum = self.tensor_memory_type(args[2]).dtype;
        let shape = self.tensor_memory_type(args[2]).shape.clone();
        // In numbers: an instruction reads 32 bytes of them, in which padding counts as well.
        let depth = self.shared_type(args[1]).shape[0] * factors[1].numbers();
        let to_an_element = if scaled.is_some_and(Scaled::is_packed) { 2 } else { 1 };
        // Of a sparse left operand there is half of that depth.
        let kept = if sparse { 2 } else { 1 };
        let step = INSTRUCTION_K_BYTES / factors[0].number_bytes() * to_an_element * kept;
        let majors = [
            match &left {
                Left::Shared(left) => left.read.major,
                Left::TensorMemory => Major::K,
            },
            right.read.major,
        ];
        let whole = block.of_instruction(group);
        let guard = self.e.guard(starts);
        let adds = self.scalar(args[3]);
        let adds = Operand::Reg(self.e.reg(adds, Type::Pred));
        let always = Operand::Reg(self.e.reg(Val::Int(1), Type::Pred));
        let mut modifiers: Vec<Modifier> = vec![Word::MmaWord.into()];
        modifiers.extend(sparse.then_some(Modifier::from(Word::Sp)));
        modifiers.push(self.cta_group().into());
        modifiers.push(tcgen05::kind(factors[0], scaled).into());
        let vectors = self.kernel.target.has(Capability::Tcgen05ScaleVectors);
        let scale_size = if vectors { Scaled::scale_vector } else { numbers_of_a_scale };
        modifiers.extend(
            scaled
                .into_iter()
                .flat_map(|scaled| [Word::BlockScale, scale_size(scaled)])
                .map(Modifier::from),
        );
        let memory = self.tensor_memory_layout(root).clone();
        let mut scales = Vec::new();
        for row in (0..shape[0]).step_by(rows as usize) {
            for column in (0..shape[1]).step_by(columns as usize) {
                let at = place_of(&memory, [row, column], sum.bytes());
                let sums = self.tensor_memory_address(args[2], at, Val::Int(0));
                for number in (0..depth).step_by(step as usize) {
                    let k = number / to_an_element;
                    let a = match &left {
                        Left::Shared(left) => self.advanced(left, row, k / kept),
                        Left::TensorMemory => {
                            let root = self.tensor_memory_type(args[0]).root;
                            let layout = self.tensor_memory_layout(root).clone();
                            let at = place_of(&layout, [row, k / kept], factors[0].bytes());
                            self.tensor_memory_address(args[0], at, Val::Int(0))
                        }
                    };
                    let b = self.advanced(&right, column, k);
                    let enabled = if number == 0 { adds.clone() } else { always.clone() };
                    let mut operands = vec![sums.clone(), a, b];
                    let bits = match multiplied {
                        Multiplied::Dense => tcgen05::instruction(whole, factors, sum, majors),
                        Multiplied::Sparse => {
                            let (metadata, more) =
                                self.metadata_of(args[4], [row, number], factors[0]);
                            operands.push(metadata);
                            tcgen05::instruction(whole, factors, sum, majors) | more
                        }
                        Multiplied::Scaled(scaled) => {
                            let first = number / scaled.block();
                            scales.extend(
                                [(args[4], row), (args[5], column)]
                                    .map(|(scales, line)| self.scales_of(scales, [line, first])),
                            );
                            let of = (factors, self.tensor_memory_type(args[4]).dtype);
                            tcgen05::scaled_instruction(whole, scaled, of, majors, first % 4)
                        }
                    };
                    let bits = Operand::Reg(self.e.reg(Val::Int(i64::from(bits)), Type::B32));
                    operands.push(bits);
                    operands.append(&mut scales);
                    operands.push(enabled);
                    let mut inst = Instruction::new(Opcode::Tcgen05, modifiers.clone(), operands);
                    inst.guard = guard;
                    self.e.push(inst, 0, true);
                }
            }
        }
    }

    /// The column of the scales of a row or column, and of a block along `k`.
    fn scales_of(&mut self, scales: Value, at: [u32; 2]) -> Operand {
        let ty = self.tensor_memory_type(scales);
        let place = place_of(self.tensor_memory_layout(ty.root), at, ty.dtype.bytes());
        self.tensor_memory_address(scales, place, Val::Int(0))
    }

    /// The pair of columns that has the metadata of an instruction whose rows and columns of the left operand begin there, and the bits of its
    /// descriptor that say which of the two.
    fn metadata_of(
        &mut self,
        metadata: Value,
        [row, column]: [u32; 2],
        factor: Dtype,
    ) -> (Operand, u32) {
        let ty = self.tensor_memory_type(metadata);
        let at = [row, column / Sparsity::of(factor).columns()];
        let place = place_of(self.tensor_memory_layout(ty.root), at, ty.dtype.bytes());
        // Allocations start at even columns, and the window does: it is a tile of pairs, or begins at a multiple of as many.
        let odd = place % 2;
        let pair = self.tensor_memory_address(metadata, place - odd, Val::Int(0));
        (pair, tcgen05::sparse_bits(odd))
    }

    /// How an instruction reads an operand in shared memory; `width` is its rows or columns.
    fn factor_of_a_block(
        &mut self,
        window: Value,
        side: Side,
        width: (u32, Multiplied),
    ) -> Described {
        let of = (self.shared_type(window), side);
        let read = tcgen05::read(self.kernel, self.plan.layouts, of, width)
            .expect("layouts::tensor_core has refused what no descriptor describes");
        // One thread starts all products.
        let starts = ThreadMap::new(Vec::new());
        self.described(window, read, &starts, Generation::Blackwell)
    }
}

/// The scales of a line as numbers that share a scale, as all targets of the family have it (PTX ISA, "tcgen05.mma": `.block16`, `.block32`).
fn numbers_of_a_scale(scaled: Scaled) -> Word {
    match scaled {
        Scaled::Mxf8 | Scaled::Mxf4 => Word::Block32,
        Scaled::Nvf4 => Word::Block16,
    }
}

/// Where an element of a tile is, as it is added to an address: the row in the upper half, the column of 32 bits in the lower one.
///
/// A block of 64 rows leaves every other 16 rows to the next block (PTX ISA, "tcgen05.mma: Data path layout").
fn place_of(memory: &Layout, element: [u32; 2], element_bytes: u32) -> u32 {
    let [row, column] = tensor_memory::place(memory, element, element_bytes);
    (row << ROW_SHIFT) + column
}
