//! Products of tiles: `mma.sync` where the layouts are its own, multiply-add elsewhere.
//!
//! Fragments are those of PTX ISA, "Matrix Fragments for mma.m16n8k16" and "mma.m16n8k8": with `g` the
//! lane's upper three bits and `t` its lower two, A has rows `g`, `g + 8`, B column `g`, the accumulator rows `g`, `g + 8` and
//! columns `2t`, `2t + 1`; along k each word starts at `t` times its elements, and the second half of the step follows.

use std::collections::BTreeMap;

use kernel_layout::{Dim, Layout};
use kernel_ptx::{Instruction, Modifier, Opcode, Operand, Type, Word};

use super::Lower;
use super::emitter::{Val, mods};
use super::scalar::arithmetic;
use crate::ir::{Dtype, Elem, Value};

/// The registers of a tile by the coordinates that they add to the thread's own.
struct Fragment {
    registers: BTreeMap<(u32, u32), Val>,
    shape: [u32; 2],
}

impl Fragment {
    fn of(layout: &Layout, values: &[Val]) -> Fragment {
        let shape = layout.shape();
        let registers = (0u32..)
            .zip(values)
            .map(|(register, &value)| {
                let at = layout.apply(&[(Dim::Register, register)]);
                ((at[0], at[1]), value)
            })
            .collect();
        Fragment { registers, shape: [shape[0], shape[1]] }
    }

    /// The register at coordinates that wrap around where the tile is smaller than the instruction.
    fn at(&self, row: u32, column: u32) -> Val {
        self.registers[&(row % self.shape[0], column % self.shape[1])]
    }

    /// The distinct coordinates along an axis whose bits outside `mask` are set.
    fn steps(&self, axis: usize, mask: u32) -> Vec<u32> {
        let mut steps: Vec<u32> = self.registers.keys().map(|at| if axis == 0 { at.0 } else { at.1 }).filter(|at| at & mask == 0).collect();
        steps.sort_unstable();
        steps.dedup();
        steps
    }
}

impl Lower<'_> {
    /// `a · b + acc`.
    pub(super) fn dot(&mut self, args: &[Value], tf32: bool, result: Value) -> Vec<Val> {
        let dtype = |elem| match elem {
            Elem::Number(dtype) => dtype,
            Elem::Ptr(_) => unreachable!("check::types rejects a product of pointers"),
        };
        let (operand, sum) = (dtype(self.elem(args[0])), dtype(self.elem(result)));
        let layout = self.layout(result).clone();
        let accumulator = self.tile(args[2]).to_vec();
        let a = Fragment::of(self.layout(args[0]), self.tile(args[0]));
        let b = Fragment::of(self.layout(args[1]), self.tile(args[1]));
        let kind = match operand {
            Dtype::F16 if matches!(sum, Dtype::F16 | Dtype::F32) => Some(Type::F16),
            Dtype::Bf16 if sum == Dtype::F32 => Some(Type::Bf16),
            Dtype::F32 if tf32 && sum == Dtype::F32 => Some(Type::Tf32),
            _ => None,
        };
        match kind {
            Some(kind) if is_accumulator(&layout) => self.matrix_products(kind, sum, &a, &b, &layout, &accumulator),
            _ => self.scalar_products(operand, sum, &a, &b, &layout, &accumulator),
        }
    }

    fn matrix_products(&mut self, kind: Type, sum: Dtype, a: &Fragment, b: &Fragment, layout: &Layout, accumulator: &[Val]) -> Vec<Val> {
        // Half of the elements along k of one instruction.
        let half = if kind == Type::Tf32 { 4 } else { 8 };
        let within = if kind == Type::Tf32 { 4 } else { 9 };
        let shape = if kind == Type::Tf32 { Word::M16n8k8 } else { Word::M16n8k16 };
        let mut sums: BTreeMap<(u32, u32), Val> = Fragment::of(layout, accumulator).registers;
        let wrap = Fragment { registers: BTreeMap::new(), shape: [layout.shape()[0], layout.shape()[1]] };
        let place = |row: u32, column: u32| (row % wrap.shape[0], column % wrap.shape[1]);
        let all: Vec<(u32, u32)> = sums.keys().copied().collect();
        let tiles: Vec<(u32, u32)> = all.into_iter().filter(|at| at.0 & 8 == 0 && at.1 & 1 == 0).collect();
        let wide = sum == Dtype::F32;
        let modifiers: Vec<Modifier> = {
            let result = if wide { Type::F32 } else { Type::F16 };
            mods![Word::Sync, Word::Aligned, shape, Word::Row, Word::Col, result, kind, kind, result].to_vec()
        };
        for step in a.steps(1, within) {
            for &(row, column) in &tiles {
                let operands: Vec<Operand> = [(row, step), (row + 8, step), (row, step + half), (row + 8, step + half)]
                    .into_iter()
                    .map(|(row, at)| self.word(kind, a, (row, at), (0, 1)))
                    .collect();
                let others: Vec<Operand> =
                    [step, step + half].into_iter().map(|at| self.word(kind, b, (at, column), (1, 0))).collect();
                let places = [(row, column), (row, column + 1), (row + 8, column), (row + 8, column + 1)].map(|(row, column)| place(row, column));
                let before = places.map(|at| sums[&at]);
                let (targets, sources): (Vec<Operand>, Vec<Operand>) = if wide {
                    let targets = before.map(|_| self.e.fresh(Type::F32));
                    for (at, &target) in places.into_iter().zip(&targets) {
                        sums.insert(at, Val::Reg(target));
                    }
                    let sources = before.map(|value| Operand::Reg(self.e.reg(value, Type::F32)));
                    (targets.map(Operand::Reg).to_vec(), sources.to_vec())
                } else {
                    let sources = [self.e.pack(before[0], before[1]), self.e.pack(before[2], before[3])];
                    let sources = sources.map(|value| Operand::Reg(self.e.reg(value, Type::B32)));
                    let targets = [self.e.fresh(Type::B32), self.e.fresh(Type::B32)];
                    for (pair, target) in places.chunks(2).zip(targets) {
                        let halves = self.e.unpack(Val::Reg(target));
                        sums.insert(pair[0], halves[0]);
                        sums.insert(pair[1], halves[1]);
                    }
                    (targets.map(Operand::Reg).to_vec(), sources.to_vec())
                };
                let operands = [Operand::Vector(targets), Operand::Vector(operands), Operand::Vector(others), Operand::Vector(sources)];
                self.e.push(Instruction::new(Opcode::Mma, modifiers.clone(), operands), 1, false);
            }
        }
        gathered(layout, &sums)
    }

    /// The word of an operand at a register's coordinates: two neighbours along k, or one tf32.
    fn word(&mut self, kind: Type, fragment: &Fragment, at: (u32, u32), next: (u32, u32)) -> Operand {
        let depth = if next.1 == 1 { (at.1, fragment.shape[1]) } else { (at.0, fragment.shape[0]) };
        // Beyond the tile's own k there is nothing to add.
        let outside = depth.0 >= depth.1;
        let word = if kind == Type::Tf32 {
            let value = if outside { Val::F32(0) } else { fragment.at(at.0, at.1) };
            self.e.pure(Opcode::Cvt, mods![Word::Rna, Type::Tf32, Type::F32], Type::B32, &[value])
        } else if outside {
            Val::Int(0)
        } else {
            let (low, high) = (fragment.at(at.0, at.1), fragment.at(at.0 + next.0, at.1 + next.1));
            self.e.pack(low, high)
        };
        Operand::Reg(self.e.reg(word, Type::B32))
    }

    /// Every thread multiplies what it has of rows and columns: the slow way, right for every type.
    fn scalar_products(&mut self, operand: Dtype, sum: Dtype, a: &Fragment, b: &Fragment, layout: &Layout, accumulator: &[Val]) -> Vec<Val> {
        let mut sums = Fragment::of(layout, accumulator).registers;
        for step in 0..a.shape[1] {
            for (&(row, column), value) in &mut sums {
                let [left, right] = [a.at(row, step), b.at(step, column)].map(|value| self.e.cast(Elem::Number(operand), Elem::Number(sum), value));
                *value = match sum {
                    Dtype::F16 | Dtype::Bf16 | Dtype::F32 | Dtype::F64 => self.e.float(Opcode::Fma, arithmetic(sum), &[left, right, *value]),
                    Dtype::Bool
                    | Dtype::I8
                    | Dtype::I16
                    | Dtype::I32
                    | Dtype::I64
                    | Dtype::U8
                    | Dtype::U16
                    | Dtype::U32
                    | Dtype::U64 => self.e.fma(sum, left, right, *value),
                };
            }
        }
        gathered(layout, &sums)
    }
}

/// Whether the lanes of a layout are those of the accumulator of `mma.sync`, as far as the tile reaches.
fn is_accumulator(layout: &Layout) -> bool {
    let shape = layout.shape();
    let required: [[u32; 2]; 5] = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]];
    let lanes = layout.bases(Dim::Lane);
    lanes.len() == 5 && lanes.iter().zip(required).all(|(basis, required)| (0..2).all(|axis| basis[axis] == required[axis] % shape[axis]))
}

/// The registers of a layout from values by coordinates.
fn gathered(layout: &Layout, values: &BTreeMap<(u32, u32), Val>) -> Vec<Val> {
    (0..layout.in_size(Dim::Register))
        .map(|register| {
            let at = layout.apply(&[(Dim::Register, register)]);
            values[&(at[0], at[1])]
        })
        .collect()
}
