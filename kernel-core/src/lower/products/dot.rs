//! Products of tiles: `mma.sync` for its own layouts, fused multiply-add for others.
//!
//! Fragments are those of PTX ISA, "Matrix Fragments for mma.m16n8k16" and "mma.m16n8k8": with `g` the
//! lane's upper three bits and `t` its lower two, A has rows `g`, `g + 8`, B column `g`, the accumulator rows `g`,
//! `g + 8` and columns `2t`, `2t + 1`; along k each word starts at `t` times its elements, and the second half of the
//! step follows.
//!
//! An operand that comes straight from shared memory is read step by step, one step ahead of the products, so that
//! only two steps of it are in registers at a time.

use std::collections::{BTreeMap, BTreeSet};

use kernel_layout::{Dim, Layout};
use kernel_ptx::{Instruction, Modifier, Opcode, Operand, Reg, Type, Word};

use crate::ir::{
    Dtype, Elem, Factors, MemoryOp, Op, ProductOp, ReportOp, Scaled, SourceOp, Sparsity, Stmt,
    StmtKind, TileOp, Value, WindowOp,
};
use crate::layouts::{Product, TensorCore, mma_warps, tensor_core};
use crate::lower::emitter::{Val, mods};
use crate::lower::memory::matrix::Matrices;
use crate::lower::tiles::scalar::arithmetic;
use crate::lower::{Data, Lower};

/// A tile in shared memory that a product reads itself.
#[derive(Clone, Debug)]
pub(crate) struct Deferred {
    window: Value,
    plan: Matrices,
}

/// An operand: its registers by the coordinates that they add to the thread's own.
pub(crate) struct Fragment {
    dtype: Dtype,
    registers: BTreeMap<(u32, u32), u32>,
    values: Vec<Val>,
    shape: [u32; 2],
    /// What is still in shared memory, and the instructions that have been emitted.
    deferred: Option<(Deferred, BTreeSet<u32>)>,
}

impl Fragment {
    pub(crate) fn of(
        (dtype, layout): (Dtype, &Layout),
        values: Vec<Val>,
        deferred: Option<Deferred>,
    ) -> Fragment {
        let shape = layout.shape();
        let registers = places(layout).map(|(register, at)| (at, register)).collect();
        let deferred = deferred.map(|deferred| (deferred, BTreeSet::new()));
        Fragment { dtype, registers, values, shape: [shape[0], shape[1]], deferred }
    }

    /// The value at coordinates that wrap around if the tile is smaller than the instruction.
    fn at(&self, row: u32, column: u32) -> Val {
        let register = self.registers[&(row % self.shape[0], column % self.shape[1])];
        let register = self
            .deferred
            .as_ref()
            .map_or(register, |(deferred, _)| deferred.plan.original(register));
        self.values[register as usize]
    }
}

/// The operands of a product, and what else it takes.
struct Operands {
    a: Fragment,
    b: Fragment,
    further: Further,
}

/// What a product takes besides its operands and accumulator.
enum Further {
    Nothing,
    /// The scales of both operands.
    Scales(Scaled, [Fragment; 2]),
    /// The metadata of the left one.
    Metadata(Sparsity, Fragment),
}

impl Further {
    /// How much longer a column of the right operand is than a row of the left one.
    fn expansion(&self) -> u32 {
        match self {
            Further::Nothing | Further::Scales(..) => 1,
            Further::Metadata(..) => 2,
        }
    }
}

/// What one `mma.sync` multiplies.
#[derive(Clone, Copy, Debug)]
struct Shape {
    core: TensorCore,
    product: Product,
}

impl Shape {
    fn modifiers(self, further: &Further) -> Vec<Modifier> {
        let shape = match self.core.k_width * self.core.words * further.expansion() {
            1 => Word::M16n8k4,
            2 => Word::M16n8k8,
            4 => Word::M16n8k16,
            8 => Word::M16n8k32,
            _ => Word::M16n8k64,
        };
        let mut modifiers = match further {
            Further::Nothing | Further::Scales(..) => Vec::new(),
            Further::Metadata(..) => mods![Word::SpOrderedMetadata].to_vec(),
        };
        modifiers.extend(mods![Word::Sync, Word::Aligned, shape, Word::Row, Word::Col]);
        modifiers.extend(self.product.kind().map(Modifier::from));
        if let Some(scaled) = self.product.scaled() {
            modifiers.extend_from_slice(mods![Word::BlockScale, scaled.scale_vector()]);
        }
        let [left, right] = self.product.operands.map(factor);
        let sum = arithmetic(self.product.accumulator);
        modifiers.extend_from_slice(mods![sum, left, right, sum]);
        match further {
            Further::Nothing | Further::Metadata(..) => {}
            Further::Scales(_, [of_a, _]) => modifiers.push(scale_type(of_a.dtype).into()),
        }
        modifiers
    }

    /// The type of the registers that hold sums: halves go in pairs.
    fn sum_register(self) -> Type {
        if self.product.accumulator == Dtype::F32 { Type::F32 } else { Type::B32 }
    }
}

/// The coordinates that each register adds to the thread's own.
pub(crate) fn places(layout: &Layout) -> impl Iterator<Item = (u32, (u32, u32))> + '_ {
    (0..layout.in_size(Dim::Register)).map(|register| {
        let at = layout.apply(&[(Dim::Register, register)]);
        (register, (at[0], at[1]))
    })
}

impl Lower<'_> {
    /// Leaves a read of shared memory to the product that follows, if that is the only one to use it and nothing in
    /// between could change what is read.
    pub(crate) fn defer(&mut self, stmts: &[Stmt]) -> bool {
        let Some((
            StmtKind::Op { op: Op::Memory(MemoryOp::LoadShared), args, result: Some(result) },
            rest,
        )) = stmts.split_first().map(|(first, rest)| (&first.kind, rest))
        else {
            return false;
        };
        if self.used.get(*result) != Some(&1) || !feeds_product(*result, rest) {
            return false;
        }
        let Some(plan) = self.matrices(args[0], &self.layout(*result).clone()) else {
            return false;
        };
        let registers = self.layout(*result).in_size(Dim::Register) as usize;
        self.deferred.insert(*result, Deferred { window: args[0], plan });
        self.values.insert(*result, Data::Tile(vec![Val::Int(0); registers]));
        true
    }

    /// `a · b + acc`.
    pub(crate) fn dot(&mut self, args: &[Value], factors: Factors, result: Value) -> Vec<Val> {
        let product = Product::of(self.kernel, args, factors);
        let layout = self.layout(result).clone();
        let accumulator = self.tile(args[2]).to_vec();
        let [a, b] = [0, 1].map(|at| {
            let (arg, dtype) = (args[at], product.operands[at]);
            let deferred = self.deferred.remove(arg);
            Fragment::of((dtype, self.layout(arg)), self.tile(arg).to_vec(), deferred)
        });
        let fragment = |arg| {
            let Elem::Number(dtype) = self.elem(arg) else {
                unreachable!("ir::verify wants scales and metadata of numbers")
            };
            Fragment::of((dtype, self.layout(arg)), self.tile(arg).to_vec(), None)
        };
        let further = match factors {
            Factors::Full | Factors::Tf32 => Further::Nothing,
            Factors::Scaled(scaled) => Further::Scales(scaled, [args[3], args[4]].map(fragment)),
            Factors::Sparse => {
                Further::Metadata(Sparsity::of(product.operands[0]), fragment(args[3]))
            }
        };
        let operands = Operands { a, b, further };
        let core = tensor_core(&product).filter(|_| mma_warps(&layout, self.crew.warps).is_some());
        match core {
            Some(core) => {
                self.matrix_products(Shape { core, product }, operands, &layout, &accumulator)
            }
            None => self.scalar_products(product, operands, &layout, &accumulator),
        }
    }

    /// Reads the numbers that an operand has between `from` and `to` along `axis`.
    fn fetch_operand(&mut self, fragment: &mut Fragment, axis: usize, from: u32, to: u32) {
        let numbers = fragment.dtype.numbers();
        let Some((deferred, done)) = &mut fragment.deferred else { return };
        for (at, &register) in &fragment.registers {
            let step = if axis == 0 { at.0 } else { at.1 };
            let start = deferred.plan.start_of(register);
            if (from..to).contains(&(step * numbers)) && done.insert(start) {
                self.load_matrix(deferred.window, &deferred.plan, start, &mut fragment.values);
            }
        }
    }

    fn matrix_products(
        &mut self,
        shape: Shape,
        Operands { mut a, mut b, further }: Operands,
        layout: &Layout,
        accumulator: &[Val],
    ) -> Vec<Val> {
        let modifiers = shape.modifiers(&further);
        let expansion = further.expansion();
        let half = 4 * shape.core.k_width;
        let depth = half * shape.core.words;
        let mut sums: BTreeMap<(u32, u32), Val> =
            places(layout).map(|(register, at)| (at, accumulator[register as usize])).collect();
        let extents = layout.shape();
        let tiles: Vec<(u32, u32)> =
            sums.keys().copied().filter(|at| at.0 & 8 == 0 && at.1 & 1 == 0).collect();
        let steps: Vec<u32> = (0..shape.product.depth).step_by(depth as usize).collect();
        for (index, &step) in steps.iter().enumerate() {
            for &ahead in &steps[index..steps.len().min(index + 2)] {
                self.fetch_operand(&mut a, 1, ahead, ahead + depth);
                self.fetch_operand(&mut b, 0, expansion * ahead, expansion * (ahead + depth));
            }
            let halves: Vec<u32> = (0..shape.core.words).map(|word| step + word * half).collect();
            let right_steps: Vec<u32> = (0..shape.core.words * expansion)
                .map(|word| expansion * step + word * half)
                .collect();
            for &(row, column) in &tiles {
                let left: Vec<Reg> = halves
                    .iter()
                    .flat_map(|&step| [(row, step), (row + 8, step)])
                    .map(|at| self.operand_word(shape.core, &a, at, 1))
                    .collect();
                let right: Vec<Reg> = right_steps
                    .iter()
                    .map(|&step| self.operand_word(shape.core, &b, (step, column), 0))
                    .collect();
                let places =
                    [(row, column), (row, column + 1), (row + 8, column), (row + 8, column + 1)]
                        .map(|(row, column)| (row % extents[0], column % extents[1]));
                let before = places.map(|at| sums[&at]);
                let more = match &further {
                    Further::Nothing => Vec::new(),
                    Further::Scales(scaled, [of_a, of_b]) => {
                        let block = step / scaled.block();
                        let mut scales = self.scale_operands(of_a, *scaled, (row, block)).to_vec();
                        scales.extend(self.scale_operands(of_b, *scaled, (column, block)));
                        scales
                    }
                    Further::Metadata(sparsity, metadata) => {
                        let bytes = shape.product.operands[0].bytes();
                        self.metadata_operands(metadata, bytes, (row, step / sparsity.kept()))
                            .to_vec()
                    }
                };
                let after = self.matrix_product(shape, &modifiers, [left, right], before, more);
                sums.extend(places.into_iter().zip(after));
            }
        }
        gathered(layout, &sums)
    }

    /// One instruction: the accumulator after it.
    fn matrix_product(
        &mut self,
        shape: Shape,
        modifiers: &[Modifier],
        [left, right]: [Vec<Reg>; 2],
        before: [Val; 4],
        more: Vec<Operand>,
    ) -> Vec<Val> {
        let register = shape.sum_register();
        let packed = shape.product.accumulator == Dtype::F16;
        let sources = if packed {
            before.chunks(2).map(|pair| self.e.pack(pair[0], pair[1])).collect()
        } else {
            before.to_vec()
        };
        let sources: Vec<Reg> =
            sources.into_iter().map(|value| self.e.reg(value, register)).collect();
        let targets: Vec<Reg> = sources.iter().map(|_| self.e.fresh(register)).collect();
        let operands = [&targets[..], &left, &right, &sources].map(vector).into_iter();
        let operands: Vec<Operand> = operands.chain(more).collect();
        self.e.push(Instruction::new(Opcode::Mma, modifiers.to_vec(), operands), 1, false);
        if packed {
            targets.into_iter().flat_map(|word| self.e.unpack(Val::Reg(word))).collect()
        } else {
            targets.into_iter().map(Val::Reg).collect()
        }
    }

    /// The scales of a line of an operand for one instruction, from a block on: the register that holds them, and the byte and the
    /// lanes with which they begin.
    fn scale_operands(
        &mut self,
        fragment: &Fragment,
        scaled: Scaled,
        (line, block): (u32, u32),
    ) -> [Operand; 2] {
        let scales: Vec<Val> =
            (0..scaled.of_a_line()).map(|next| fragment.at(line, block + next)).collect();
        let (word, byte) = match scales[..] {
            [scale] => match self.e.byte_of(scale) {
                Some((word, byte)) => (Val::Reg(word), byte),
                None => (scale, 0),
            },
            [low, high] => match self.e.half_of_bytes(low, high) {
                Some((word, half)) => (Val::Reg(word), 2 * half),
                None => (self.e.pack_two_bytes(low, high), 0),
            },
            [a, b, c, d] => (self.e.pack_bytes([a, b, c, d]), 0),
            _ => unreachable!("a line has one, two or four scales, see `Scaled::of_a_line`"),
        };
        let word = self.e.reg(word, Type::B32);
        let selector = [i128::from(byte), 0].map(Operand::Int);
        [Operand::Reg(word), Operand::Vector(selector.to_vec())]
    }

    /// The metadata of 16 rows for one instruction, and the selector of the lanes that give it: the first ones of each four. For
    /// operands of 8 bits a lane gives two elements of a row, for others one of each of two rows.
    pub(crate) fn metadata_operands(
        &mut self,
        metadata: &Fragment,
        bytes: u32,
        (row, column): (u32, u32),
    ) -> [Operand; 2] {
        let next = if bytes == 1 { (row, column + 1) } else { (row + 8, column) };
        let word = self.e.pack_low_halves(metadata.at(row, column), metadata.at(next.0, next.1));
        let word = self.e.reg(word, Type::B32);
        [Operand::Reg(word), Operand::Int(0)]
    }

    /// The word of an operand at the coordinates of a number: its elements are adjacent along the axis `depth`.
    pub(crate) fn operand_word(
        &mut self,
        core: TensorCore,
        fragment: &Fragment,
        at: (u32, u32),
        depth: usize,
    ) -> Reg {
        let (dtype, numbers) = (fragment.dtype, fragment.dtype.numbers());
        let parts: Vec<Val> = (0..core.elements(dtype))
            .map(|step| {
                if depth == 1 {
                    fragment.at(at.0, at.1 / numbers + step)
                } else {
                    fragment.at(at.0 / numbers + step, at.1)
                }
            })
            .collect();
        let word = match parts[..] {
            // Its lane's part of an element, as `ldmatrix` spreads it.
            [value] if numbers > 2 => value,
            [value] => self.e.pure(
                Opcode::Cvt,
                mods![Word::Rna, Type::Tf32, Type::F32],
                Type::B32,
                &[value],
            ),
            [low, high] if numbers == 2 => self.e.spread_numbers(low, high),
            [low, high] => self.e.pack(low, high),
            [a, b, c, d] => self.e.pack_bytes([a, b, c, d]),
            _ => unreachable!("layouts::tensor_core knows words of one, two and four elements"),
        };
        self.e.reg(word, Type::B32)
    }

    /// Every thread multiplies what it has of rows and columns: slow, but correct for every type.
    fn scalar_products(
        &mut self,
        product: Product,
        Operands { mut a, mut b, .. }: Operands,
        layout: &Layout,
        accumulator: &[Val],
    ) -> Vec<Val> {
        let (operand, sum) = (product.operands[0], product.accumulator);
        self.fetch_operand(&mut a, 1, 0, u32::MAX);
        self.fetch_operand(&mut b, 0, 0, u32::MAX);
        let mut sums: BTreeMap<(u32, u32), Val> =
            places(layout).map(|(register, at)| (at, accumulator[register as usize])).collect();
        for step in 0..a.shape[1] {
            for (&(row, column), value) in &mut sums {
                let [left, right] = [a.at(row, step), b.at(step, column)]
                    .map(|value| self.e.cast(Elem::Number(operand), Elem::Number(sum), value));
                *value = if sum.is_float() {
                    self.e.float(Opcode::Fma, arithmetic(sum), &[left, right, *value])
                } else {
                    self.e.fma(sum, left, right, *value)
                };
            }
        }
        gathered(layout, &sums)
    }
}

/// Whether `value` goes to a product, with nothing before that writes memory or waits.
fn feeds_product(value: Value, stmts: &[Stmt]) -> bool {
    for stmt in stmts {
        let StmtKind::Op { op, args, .. } = &stmt.kind else { return false };
        if args.contains(&value) {
            return matches!(op, Op::Product(ProductOp::Dot(_))) && !args[2..].contains(&value);
        }
        let quiet = match op {
            Op::Source(SourceOp::Const(_) | SourceOp::Arange(_))
            | Op::Tile(TileOp::Splat)
            | Op::Elementwise(_)
            | Op::Window(
                WindowOp::Index
                | WindowOp::Transpose
                | WindowOp::Reshape
                | WindowOp::Part
                | WindowOp::Retype
                | WindowOp::Remote,
            )
            | Op::Memory(MemoryOp::LoadShared)
            | Op::Report(ReportOp::Stamp(_)) => true,
            Op::Source(_)
            | Op::Tile(_)
            | Op::Memory(_)
            | Op::Window(WindowOp::Alloc(_))
            | Op::Copy(_)
            | Op::Sync(_)
            | Op::Product(_)
            | Op::TensorMemory(_)
            | Op::Assert(_)
            | Op::Report(ReportOp::Print(_) | ReportOp::Assert(_)) => false,
        };
        if !quiet {
            return false;
        }
    }
    false
}

/// The registers of a layout from values by coordinates.
fn gathered(layout: &Layout, values: &BTreeMap<(u32, u32), Val>) -> Vec<Val> {
    places(layout).map(|(_, at)| values[&at]).collect()
}

/// `{a, b, ..}`
fn vector(registers: &[Reg]) -> Operand {
    Operand::Vector(registers.iter().map(|&register| Operand::Reg(register)).collect())
}

/// The instruction type of scales: e4m3 is read without its sign.
fn scale_type(dtype: Dtype) -> Type {
    if dtype == Dtype::E4m3 { Type::Ue4m3 } else { Type::Ue8m0 }
}

/// The instruction type of the operands of a product: f32 is multiplied as tf32.
pub(crate) fn factor(dtype: Dtype) -> Type {
    let factor = dtype.row().factor.and_then(|factor| factor.mma);
    factor.expect("elaborate refuses products of other types")
}
