//! `ldmatrix` and `stmatrix`: 8×8 matrices of 16-bit elements from and to shared memory (PTX ISA, "ldmatrix", "stmatrix"). Elements of one byte go in
//! pairs, those of four bytes in halves, as long as rows stay rows. An element of sixteen FP6 numbers is a row, of which each of
//! four lanes gets four numbers, a byte to each.
//!
//! A lane's word of a matrix holds two adjacent elements of a row: lane bits 0 and 1 walk along the row,
//! bits 2 to 4 walk the rows. With `.trans` it is the other way round, and the two elements come from two rows.
//! Lane `8 i + j` gives the address of row `j` of matrix `i`.

use std::collections::BTreeSet;

use kernel_layout::{Dim, Layout};
use kernel_ptx::{Capability, Instruction, Modifier, Opcode, Operand, Reg, Space, Type, Word};

use super::shared::InTile;
use super::tensor::{repeat, repeated_registers};
use crate::ir::{Dtype, Value};
use crate::lower::Lower;
use crate::lower::emitter::{Val, mods};
use crate::lower::tiles::coords::{ThreadMap, repeated_threads};

/// Bytes of a row of a matrix.
const ROW_BYTES: u32 = 16;
/// Rows of a matrix.
const ROWS: u32 = 8;
/// Bytes that all banks of shared memory have in a row.
const LINE_BYTES: u32 = 128;

/// How a tile in registers is read by `ldmatrix`.
#[derive(Clone, Debug)]
pub(crate) struct Matrices {
    transposed: bool,
    /// The bits of the register index within one word.
    within: Vec<usize>,
    /// The bits of the register index that choose the matrix of one instruction.
    between: Vec<usize>,
    /// The byte offset of the row whose address a lane gives.
    rows: ThreadMap,
    /// The byte offset of each bit of the register index.
    registers: Vec<u32>,
    repeated: u32,
}

impl Matrices {
    /// The plan for a tile of `size`-byte elements, if its layouts allow one.
    pub(crate) fn plan(tile: &InTile, size: u32) -> Option<Matrices> {
        let five = tile.registers.bases(Dim::Lane).len() == 5;
        if !matches!(size, 1 | 2 | 4 | ROW_BYTES) || !five || tile.aligned < ROW_BYTES {
            return None;
        }
        let offsets = kernel_layout::offsets(&tile.registers, &tile.shared);
        let of =
            |dim| -> Vec<u32> { offsets.bases(dim).iter().map(|basis| basis[0] * size).collect() };
        let (registers, lanes, warps) = (of(Dim::Register), of(Dim::Lane), of(Dim::Warp));
        let repeated = repeated_registers(&tile.registers);
        let plain = Self::plain(&registers, &lanes, size)
            .map(|within| (false, within, [lanes[2], lanes[3], lanes[4]]));
        let (transposed, within, rows) = match plain {
            Some(plain) => plain,
            None => Self::transposed(&registers, &lanes, size, repeated)
                .map(|pair| (true, vec![pair], [registers[pair], lanes[0], lanes[1]]))?,
        };
        let rest: Vec<usize> = (0..registers.len())
            .filter(|bit| !within.contains(bit) && repeated >> bit & 1 == 0)
            .collect();
        let aligned = rows
            .iter()
            .chain(rest.iter().map(|&bit| &registers[bit]))
            .chain(&warps)
            .all(|offset| offset.is_multiple_of(ROW_BYTES));
        if !aligned {
            return None;
        }
        // Matrices of one instruction that differ along both axes serve one step of a product.
        let bases = tile.registers.bases(Dim::Register);
        let mut matrices: Vec<usize> = rest.first().copied().into_iter().collect();
        let across = |bit: &&usize| {
            matrices.first().is_some_and(|&first| {
                bases[**bit].iter().zip(&bases[first]).all(|(a, b)| *a == 0 || *b == 0)
            })
        };
        let second = rest.iter().skip(1).find(across).or(rest.get(1)).copied();
        matrices.extend(second);
        let mut bases = rows.to_vec();
        bases.extend(matrices.iter().map(|&bit| registers[bit]));
        bases.resize(5, 0);
        bases.extend(warps);
        Some(Matrices {
            transposed,
            within,
            between: matrices,
            rows: ThreadMap::new(bases),
            registers,
            repeated,
        })
    }

    /// Rows are along lane bits 0 and 1: the register bits within a word.
    fn plain(registers: &[u32], lanes: &[u32], size: u32) -> Option<Vec<usize>> {
        if size == ROW_BYTES {
            // Four lanes share an element, which is a row.
            return (lanes[..2] == [0, 0]).then(Vec::new);
        }
        if lanes[..2] != [4, 8] {
            return None;
        }
        // A word is four bytes: the bits of the register index that walk them, lowest first.
        let steps = (size.trailing_zeros()..2).map(|log2_bytes| 1 << log2_bytes);
        steps.map(|step| registers.iter().position(|&offset| offset == step)).collect()
    }

    /// Rows are along lane bits 2 to 4: the register bit within a word, which leads to the next row.
    fn transposed(registers: &[u32], lanes: &[u32], size: u32, repeated: u32) -> Option<usize> {
        // Words hold both values of the lowest register bit; the instruction transposes 16-bit elements only.
        (size == 2 && lanes[2..] == [2, 4, 8] && !registers.is_empty() && repeated & 1 == 0)
            .then_some(0)
    }
}

impl Lower<'_> {
    /// How a window is read by `ldmatrix`, if its layout allows that.
    pub(crate) fn matrices(&self, window: Value, layout: &Layout) -> Option<Matrices> {
        let ty = self.shared_type(window);
        if ty.remote {
            // Matrices are read in the own block alone (PTX ISA, "ldmatrix").
            return None;
        }
        let size = ty.dtype.shared_bytes();
        Matrices::plan(&self.in_tile(window, layout), size)
    }

    /// Reads a window by `ldmatrix`, if its layout allows that.
    pub(crate) fn load_matrices(&mut self, window: Value, layout: &Layout) -> Option<Vec<Val>> {
        let plan = self.matrices(window, layout)?;
        let mut result = vec![Val::Int(0); layout.in_size(Dim::Register) as usize];
        let starts: Vec<u32> = plan.starts().collect();
        for start in starts {
            self.load_matrix(window, &plan, start, &mut result);
        }
        repeat(&mut result, plan.repeated);
        Some(result)
    }

    /// Writes a tile of halves to a window by `stmatrix` (PTX ISA, "stmatrix"), if its layout and the target allow that: the
    /// inverse of `ldmatrix`.
    pub(crate) fn store_matrices(
        &mut self,
        window: Value,
        layout: &Layout,
        values: &[Val],
    ) -> bool {
        let ty = self.shared_type(window);
        if ty.remote {
            return false;
        }
        let dtype = ty.dtype;
        let alone = repeated_threads(layout, self.crew.warps) == 0;
        if !alone || !self.kernel.target.has(Capability::Stmatrix) || !dtype.is_half() {
            return false;
        }
        let Some(plan) = self.matrices(window, layout) else { return false };
        let [bit] = plan.within[..] else { return false };
        let starts: Vec<u32> = plan.starts().collect();
        for start in starts {
            let constant = plan.offset_of(start);
            let (value, constant) = self.shared_address(window, &plan.rows, constant);
            let address = self.e.at(value, constant);
            let words = plan.words(start).into_iter().map(|word| {
                let halves = [word, word | 1 << bit].map(|register| values[register as usize]);
                let packed = self.e.pack(halves[0], halves[1]);
                Operand::Reg(self.e.reg(packed, Type::B32))
            });
            let words = Operand::Vector(words.collect());
            let mut modifiers = plan.modifiers();
            modifiers.extend_from_slice(mods![Space::Shared, Type::B16]);
            self.e.effect(Opcode::Stmatrix, &modifiers, [address, words]);
        }
        true
    }

    /// One `ldmatrix`: the registers from `start`.
    pub(crate) fn load_matrix(
        &mut self,
        window: Value,
        plan: &Matrices,
        start: u32,
        result: &mut [Val],
    ) {
        let constant = plan.offset_of(start);
        let (value, constant) = self.shared_address(window, &plan.rows, constant);
        let address = self.e.at(value, constant);
        let words = plan.words(start);
        let dtype = self.shared_type(window).dtype;
        let float = dtype == Dtype::F32;
        let targets: Vec<Reg> = words.iter().map(|_| self.e.fresh(Type::B32)).collect();
        let mut modifiers = plan.modifiers();
        if dtype.is_held() {
            modifiers.extend_from_slice(mods![Space::Shared, Type::B16]);
        } else {
            let padded = [Word::Sync, Word::Aligned, Word::M8n16, plan.count()];
            modifiers = padded.map(Modifier::from).to_vec();
            modifiers.extend_from_slice(mods![Space::Shared, Word::B8x16, Word::B6x16P32]);
        }
        let vector = Operand::Vector(targets.iter().map(|&target| Operand::Reg(target)).collect());
        self.e.push(Instruction::new(Opcode::Ldmatrix, modifiers, [vector, address]), 1, false);
        for (word, target) in words.into_iter().zip(targets) {
            let target = Val::Reg(target);
            if let [first, second] = plan.within[..] {
                let byte = if dtype == Dtype::Bool { Dtype::U8 } else { dtype };
                for (index, value) in (0..).zip(self.e.unpack_bytes(byte, target)) {
                    let register = super::tensor::vector_register(&[first, second], word, index);
                    result[register as usize] = if dtype == Dtype::Bool {
                        // A byte in memory, a predicate in registers.
                        self.e.compare(Word::Ne, Type::S32, value, Val::Int(0))
                    } else {
                        value
                    };
                }
            } else if let [bit] = plan.within[..] {
                let [low, high] = if dtype.is_int() {
                    // Integers are held extended to 32 bits.
                    let shifted = self.e.shr(Type::U32, target, 16);
                    [target, shifted].map(|value| self.e.extend(dtype, value))
                } else {
                    self.e.unpack(target)
                };
                result[word as usize] = low;
                result[(word | 1 << bit) as usize] = high;
            } else if float {
                result[word as usize] =
                    self.e.pure(Opcode::Mov, mods![Type::B32], Type::F32, &[target]);
            } else {
                result[word as usize] = target;
            }
        }
    }
}

impl Matrices {
    /// Shape, number and transposition of the matrices of an instruction.
    fn modifiers(&self) -> Vec<Modifier> {
        let mut modifiers = mods![Word::Sync, Word::Aligned, Word::M8n8, self.count()].to_vec();
        if self.transposed {
            modifiers.push(Word::Trans.into());
        }
        modifiers
    }

    fn count(&self) -> Word {
        match self.between.len() {
            0 => Word::X1,
            1 => Word::X2,
            _ => Word::X4,
        }
    }

    /// The byte offset of what the registers from `start` have, from the row whose address a lane gives.
    fn offset_of(&self, start: u32) -> u32 {
        let bits = self.registers.iter().enumerate().filter(|(bit, _)| start >> bit & 1 == 1);
        bits.fold(0, |sum, (_, offset)| sum ^ offset)
    }

    /// The register that has what `register` repeats.
    pub(crate) fn original(&self, register: u32) -> u32 {
        register & !self.repeated
    }

    /// The first register of the instruction that reads `register`.
    pub(crate) fn start_of(&self, register: u32) -> u32 {
        let within = self.within.iter().chain(&self.between);
        within.fold(self.original(register), |start, bit| start & !(1 << bit))
    }

    /// Passes beyond the fewest possible, of all instructions of a warp. The rows of one matrix are read together.
    pub(crate) fn bank_conflicts(&self) -> u32 {
        let extra = |matrix: u32| {
            let rows: BTreeSet<u32> =
                (0..ROWS).map(|row| self.rows.at(matrix * ROWS + row)).collect();
            let of_banks = |banks| rows.iter().filter(|row| *row % LINE_BYTES == banks).count();
            let most = rows.iter().map(|row| of_banks(row % LINE_BYTES)).max().unwrap_or(1);
            u32::try_from(most - 1).expect("a matrix has eight rows")
        };
        let matrices: u32 = (0..1 << self.between.len()).map(extra).sum();
        let instructions =
            u32::try_from(self.starts().count()).expect("a thread has few registers");
        matrices * instructions
    }

    /// The first register of each instruction.
    fn starts(&self) -> impl Iterator<Item = u32> + '_ {
        let covered = self
            .within
            .iter()
            .chain(&self.between)
            .fold(self.repeated, |mask, bit| mask | 1 << bit);
        (0..1u32 << self.registers.len()).filter(move |register| register & covered == 0)
    }

    /// The first register of each word of the instruction at `start`.
    fn words(&self, start: u32) -> Vec<u32> {
        (0..1u32 << self.between.len())
            .map(|index| super::tensor::vector_register(&self.between, start, index))
            .collect()
    }
}
