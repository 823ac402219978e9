//! `wgmma` products (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").
//!
//! The accumulator stays in its registers: a product adds to them some time before the wait that covers it, so
//! nothing moves them. An instruction reads 64 rows of the left operand and all of its columns of the right one, 32 bytes along `k`; its
//! descriptors differ from step to step only in their start address.

use std::collections::BTreeMap;

use kernel_layout::wgmma::{INSTRUCTION_K_BYTES, INSTRUCTION_M, Major, Operand as Read};
use kernel_layout::{Dim, Form, Layout};
use kernel_ptx::{Instruction, Modifier, Opcode, Operand, Reg, Type, Word};

use super::dot::{Fragment, places};
use super::matrix_descriptor::Described;
use crate::ir::{self, Dtype, Sparsity, Value};
use crate::layouts::TensorCore;
use crate::layouts::wgmma::{self, GROUP_WARPS, Generation, Side};
use crate::lower::Lower;
use crate::lower::emitter::{Val, mods};
use crate::lower::tiles::coords::ThreadMap;
use crate::lower::tiles::scalar::arithmetic;

/// Bits of a thread's index within a warpgroup.
const GROUP_BITS: usize = 7;

/// Where a product finds its left operand.
enum Left {
    Shared(Described),
    Registers(Box<Fragment>),
}

/// What all instructions of a product have in common.
#[derive(Clone, Copy)]
struct Product {
    /// Warps along rows and columns.
    warps: [u32; 2],
    /// Columns of an instruction.
    n: u32,
    factors: [Dtype; 2],
    sum: Dtype,
    /// Half of the left operand is left out.
    sparse: bool,
}

impl Product {
    /// Elements of a row of the left operand of an instruction.
    fn depth(self) -> u32 {
        INSTRUCTION_K_BYTES / self.factor_bytes()
    }

    /// How many more elements a column of the right operand has.
    fn expansion(self) -> u32 {
        if self.sparse { 2 } else { 1 }
    }

    fn factor_bytes(self) -> u32 {
        self.factors[0].bytes()
    }

    fn row_groups(self) -> u32 {
        self.warps[0] / GROUP_WARPS
    }

    /// `m64n128k16` and so on.
    fn shape(self) -> Word {
        let text = format!("m{INSTRUCTION_M}n{}k{}", self.n, self.expansion() * self.depth());
        *Word::ALL
            .iter()
            .find(|word| word.text() == text)
            .expect("layouts::wgmma chooses shapes that the table has")
    }

    fn modifiers(self) -> Vec<Modifier> {
        let [left, right] = self.factors.map(super::dot::factor);
        let sum = arithmetic(self.sum);
        let mut modifiers = mods![Word::MmaAsync].to_vec();
        if self.sparse {
            modifiers.push(Word::Sp.into());
        }
        let rest = mods![Word::Sync, Word::Aligned, self.shape(), sum, left, right];
        modifiers.extend_from_slice(rest);
        modifiers
    }

    /// The operands after the predicate: signs of the operands, and which of them are transposed.
    fn constants(self, left: &Left, right: &Described) -> Vec<Operand> {
        if self.sum == Dtype::I32 {
            return Vec::new();
        }
        let mut constants = vec![1, 1];
        if self.factor_bytes() == 2 {
            let turned = |read: &Read| i128::from(read.major == Major::Mn);
            if let Left::Shared(left) = left {
                constants.push(turned(&left.read));
            }
            constants.push(turned(&right.read));
        }
        constants.into_iter().map(Operand::Int).collect()
    }
}

impl Lower<'_> {
    /// Starts `a · b + acc`, and gives the registers of the accumulator.
    pub(crate) fn wgmma(&mut self, sparse: bool, args: &[Value], result: Value) -> Vec<Val> {
        let layout = self.layout(result).clone();
        let Form::Wgmma { warps, n } = wgmma::form(self.kernel, [args[0], args[1], args[2]]) else {
            unreachable!("wgmma::form gives no other")
        };
        let sum = match self.elem(result) {
            ir::Elem::Number(sum) => sum,
            ir::Elem::Ptr(_) => unreachable!("ir::verify rejects a product of pointers"),
        };
        let product = Product { warps, n, factors: wgmma::factors(self.kernel, args), sum, sparse };
        let right = self.factor_of_groups(args[1], Side::Right, product);
        let left = match self.kernel.ty(args[0]) {
            ir::Type::Shared(_) => {
                Left::Shared(self.factor_of_groups(args[0], Side::Left, product))
            }
            ir::Type::Tile(..)
            | ir::Type::Scalar(_)
            | ir::Type::Barrier(_)
            | ir::Type::TensorMemory(_)
            | ir::Type::Error => {
                let (layout, values) = (self.layout(args[0]).clone(), self.tile(args[0]).to_vec());
                Left::Registers(Box::new(Fragment::of((product.factors[0], &layout), values, None)))
            }
        };
        let sums = self.accumulator(args[2], sum);
        let words = sums.words(self, &layout);
        let shape = layout.shape();
        let expansion = product.expansion();
        let depth = self.shared_type(args[1]).shape[0] / expansion;
        let steps = (0..depth).step_by(product.depth() as usize);
        let rows = (0..shape[0]).step_by((INSTRUCTION_M * product.row_groups()) as usize);
        let mut fragments = BTreeMap::new();
        if let Left::Registers(fragment) = &left {
            for row in rows.clone() {
                for step in steps.clone() {
                    fragments.insert((row, step), self.fragment(product, fragment, row, step));
                }
            }
        }
        let mut metadata = BTreeMap::new();
        if let Some(&held) = args.get(3) {
            let layout = self.layout(held).clone();
            let held = Fragment::of((Dtype::U16, &layout), self.tile(held).to_vec(), None);
            let (bytes, kept) = (product.factor_bytes(), Sparsity::of(product.factors[0]).kept());
            for row in rows.clone() {
                for step in steps.clone() {
                    let operands = self.metadata_operands(&held, bytes, (row, step / kept));
                    metadata.insert((row, step), operands);
                }
            }
        }
        // After the last instruction that writes a register of the left operand or of the accumulator.
        self.e.effect(Opcode::Wgmma, mods![Word::FenceWord, Word::Sync, Word::Aligned], []);
        let adds = Operand::Reg(self.e.reg(Val::Int(1), Type::Pred));
        let columns: Vec<u32> = (0..shape[1]).step_by((n * warps[1]) as usize).collect();
        for row in rows {
            for &column in &columns {
                for step in steps.clone() {
                    let a = match &left {
                        Left::Shared(left) => self.advanced(left, row, step),
                        Left::Registers(_) => fragments[&(row, step)].clone(),
                    };
                    let b = self.advanced(&right, column, expansion * step);
                    let registers = (0..n / 2).step_by(words.elements as usize).map(|index| {
                        let place =
                            (row + 8 * (index >> 1 & 1), column + 8 * (index >> 2) + (index & 1));
                        Operand::Reg(words.of[&place])
                    });
                    let mut operands = vec![Operand::Vector(registers.collect()), a, b];
                    operands.extend(metadata.get(&(row, step)).into_iter().flatten().cloned());
                    operands.push(adds.clone());
                    operands.extend(product.constants(&left, &right));
                    let inst = Instruction::new(Opcode::Wgmma, product.modifiers(), operands);
                    self.e.push(inst, 1, true);
                }
            }
        }
        let commit = mods![Word::CommitGroup, Word::Sync, Word::Aligned];
        self.e.effect(Opcode::Wgmma, commit, []);
        let written: Vec<Reg> = words.of.values().copied().collect();
        self.e.overwritten(&written);
        if sum != Dtype::F16 {
            return sums.values;
        }
        places(&layout)
            .map(|(_, at)| {
                let word = words.of[&(at.0, at.1 & !1)];
                Val::Reg(self.e.half_to_come(word, u8::from(at.1 & 1 == 1)))
            })
            .collect()
    }

    /// Waits until at most this many groups of products are in flight.
    pub(crate) fn wgmma_wait(&mut self, pending: u32, accumulator: Value) -> Vec<Val> {
        let wait = mods![Word::WaitGroup, Word::Sync, Word::Aligned];
        self.e.effect(Opcode::Wgmma, wait, [Operand::Int(i128::from(pending))]);
        self.tile(accumulator).to_vec()
    }

    /// How an instruction reads an operand in shared memory; each group begins with rows or columns of its own.
    fn factor_of_groups(&mut self, window: Value, side: Side, product: Product) -> Described {
        let of = self.shared_type(window);
        let instruction = wgmma::Instruction { n: product.n, sparse: product.sparse };
        let read = wgmma::read(self.kernel, self.plan.layouts, of, side, instruction)
            .expect("layouts::wgmma has refused what no descriptor describes");
        // The bits of the group's number: those of its rows, then those of its columns.
        let (row_bits, column_bits) =
            (product.row_groups().trailing_zeros(), product.warps[1].trailing_zeros());
        let mut bases = vec![0; GROUP_BITS];
        for bit in 0..row_bits {
            bases.push(match side {
                Side::Left => read.start_bytes(INSTRUCTION_M << bit, 0),
                Side::Right => 0,
            });
        }
        for bit in 0..column_bits {
            bases.push(match side {
                Side::Left => 0,
                Side::Right => read.start_bytes(product.n << bit, 0),
            });
        }
        self.described(window, read, &ThreadMap::new(bases), Generation::Hopper)
    }

    /// The four words of a left operand in registers.
    fn fragment(&mut self, product: Product, fragment: &Fragment, row: u32, step: u32) -> Operand {
        let core = TensorCore { k_width: 4 / product.factor_bytes(), words: 2 };
        let half = 4 * core.k_width;
        let places = [(row, step), (row + 8, step), (row, step + half), (row + 8, step + half)];
        let words = places.map(|at| Operand::Reg(self.operand_word(core, fragment, at, 1)));
        Operand::Vector(words.to_vec())
    }

    /// Registers that hold the accumulator and that nothing else reads: its own, if that is so.
    fn accumulator(&mut self, accumulator: Value, sum: Dtype) -> Sums {
        let values = self.tile(accumulator).to_vec();
        let last_use = self.used.get(accumulator) == Some(&1);
        if sum == Dtype::F16 {
            return Sums { values, sum, last_use };
        }
        let own = values.iter().all(|value| match value {
            Val::Reg(reg) => self.e.is_slot(*reg),
            Val::Int(_) | Val::F32(_) | Val::F64(_) => false,
        });
        if last_use && own {
            return Sums { values, sum, last_use };
        }
        let ty = crate::lower::tiles::scalar::held(ir::Elem::Number(sum));
        let copies = values.iter().map(|&value| {
            let register = self.e.fresh_slot(ty);
            self.e.assign(register, value);
            Val::Reg(register)
        });
        Sums { values: copies.collect(), sum, last_use }
    }
}

/// The registers of an accumulator.
struct Sums {
    values: Vec<Val>,
    sum: Dtype,
    /// Nothing else reads them.
    last_use: bool,
}

/// The registers that instructions name: each has one element, or a pair of halves.
struct Words {
    of: BTreeMap<(u32, u32), Reg>,
    elements: u32,
}

impl Sums {
    /// The registers by the coordinates that they add to the thread's own; pairs of halves by those of the first.
    fn words(&self, lower: &mut Lower<'_>, layout: &Layout) -> Words {
        let by_place: BTreeMap<(u32, u32), Val> =
            places(layout).map(|(register, at)| (at, self.values[register as usize])).collect();
        debug_assert!(layout.has_in(Dim::Register), "an accumulator has registers");
        let mut of = BTreeMap::new();
        for (&at, &value) in &by_place {
            if self.sum != Dtype::F16 {
                let Val::Reg(register) = value else {
                    unreachable!("the accumulator was put into registers")
                };
                of.insert(at, register);
            } else if at.1 & 1 == 0 {
                let pair = lower.e.pack(value, by_place[&(at.0, at.1 + 1)]);
                let word = match pair {
                    Val::Reg(word) if self.last_use && lower.e.is_slot(word) => word,
                    Val::Reg(_) | Val::Int(_) | Val::F32(_) | Val::F64(_) => {
                        let word = lower.e.fresh_slot(Type::B32);
                        lower.e.assign(word, pair);
                        word
                    }
                };
                of.insert(at, word);
            }
        }
        Words { of, elements: if self.sum == Dtype::F16 { 2 } else { 1 } }
    }
}
