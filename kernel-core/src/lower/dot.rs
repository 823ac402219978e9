//! Products of tiles: `mma.sync` where the layouts are its own, multiply-add elsewhere.
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

use super::emitter::{Val, mods};
use super::matrix::Matrices;
use super::scalar::arithmetic;
use super::{Data, Lower};
use crate::ir::{Dtype, Elem, Op, Stmt, StmtKind, Value};

/// A tile in shared memory that a product reads itself.
#[derive(Clone, Debug)]
pub(super) struct Deferred {
    window: Value,
    plan: Matrices,
}

/// An operand: its registers by the coordinates that they add to the thread's own.
struct Fragment {
    registers: BTreeMap<(u32, u32), u32>,
    values: Vec<Val>,
    shape: [u32; 2],
    /// What is still in shared memory, and the instructions that have been emitted.
    deferred: Option<(Deferred, BTreeSet<u32>)>,
}

impl Fragment {
    fn of(layout: &Layout, values: Vec<Val>, deferred: Option<Deferred>) -> Fragment {
        let shape = layout.shape();
        let registers = places(layout).map(|(register, at)| (at, register)).collect();
        let deferred = deferred.map(|deferred| (deferred, BTreeSet::new()));
        Fragment { registers, values, shape: [shape[0], shape[1]], deferred }
    }

    /// The value at coordinates that wrap around where the tile is smaller than the instruction.
    fn at(&self, row: u32, column: u32) -> Val {
        let register = self.registers[&(row % self.shape[0], column % self.shape[1])];
        let register = self
            .deferred
            .as_ref()
            .map_or(register, |(deferred, _)| deferred.plan.original(register));
        self.values[register as usize]
    }

    /// The distinct coordinates along an axis that have no bit of `mask`.
    fn steps(&self, axis: usize, mask: u32) -> Vec<u32> {
        let steps = self.registers.keys().map(|at| if axis == 0 { at.0 } else { at.1 });
        let steps: BTreeSet<u32> = steps.filter(|at| at & mask == 0).collect();
        steps.into_iter().collect()
    }
}

/// The coordinates that each register adds to the thread's own.
fn places(layout: &Layout) -> impl Iterator<Item = (u32, (u32, u32))> + '_ {
    (0..layout.in_size(Dim::Register)).map(|register| {
        let at = layout.apply(&[(Dim::Register, register)]);
        (register, (at[0], at[1]))
    })
}

impl Lower<'_> {
    /// Leaves a read of shared memory to the product that follows, if that is the only one to use it and nothing in
    /// between could change what is read.
    pub(super) fn defer(&mut self, stmts: &[Stmt]) -> bool {
        let Some((StmtKind::Op { op: Op::LoadShared, args, result: Some(result) }, rest)) =
            stmts.split_first().map(|(first, rest)| (&first.kind, rest))
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
    pub(super) fn dot(&mut self, args: &[Value], tf32: bool, result: Value) -> Vec<Val> {
        let dtype = |elem| match elem {
            Elem::Number(dtype) => dtype,
            Elem::Ptr(_) => unreachable!("check::types rejects a product of pointers"),
        };
        let (operand, sum) = (dtype(self.elem(args[0])), dtype(self.elem(result)));
        let layout = self.layout(result).clone();
        let accumulator = self.tile(args[2]).to_vec();
        let [a, b] = [args[0], args[1]].map(|arg| {
            let deferred = self.deferred.remove(arg);
            Fragment::of(self.layout(arg), self.tile(arg).to_vec(), deferred)
        });
        let kind = match (operand, sum) {
            (Dtype::F16, Dtype::F16 | Dtype::F32) => Some(Type::F16),
            (Dtype::Bf16, Dtype::F32) => Some(Type::Bf16),
            (Dtype::F32, Dtype::F32) if tf32 => Some(Type::Tf32),
            _ => None,
        };
        match kind {
            Some(kind) if is_accumulator(&layout) => {
                self.matrix_products(kind, sum, [a, b], &layout, &accumulator)
            }
            _ => self.scalar_products([operand, sum], [a, b], &layout, &accumulator),
        }
    }

    /// Reads what an operand has between `from` and `to` along `axis`.
    fn fetch_operand(&mut self, fragment: &mut Fragment, axis: usize, from: u32, to: u32) {
        let Some((deferred, done)) = &mut fragment.deferred else { return };
        for (at, &register) in &fragment.registers {
            let step = if axis == 0 { at.0 } else { at.1 };
            let start = deferred.plan.start_of(register);
            if (from..to).contains(&step) && done.insert(start) {
                self.load_matrix(deferred.window, &deferred.plan, start, &mut fragment.values);
            }
        }
    }

    fn matrix_products(
        &mut self,
        kind: Type,
        sum: Dtype,
        [mut a, mut b]: [Fragment; 2],
        layout: &Layout,
        accumulator: &[Val],
    ) -> Vec<Val> {
        // Half of the elements along k of one instruction, and the bits of k within one.
        let (half, within, shape) =
            if kind == Type::Tf32 { (4, 4, Word::M16n8k8) } else { (8, 9, Word::M16n8k16) };
        let wide = sum == Dtype::F32;
        let ty = if wide { Type::F32 } else { Type::F16 };
        let modifiers: Vec<Modifier> =
            mods![Word::Sync, Word::Aligned, shape, Word::Row, Word::Col, ty, kind, kind, ty]
                .to_vec();
        let mut sums: BTreeMap<(u32, u32), Val> =
            places(layout).map(|(register, at)| (at, accumulator[register as usize])).collect();
        let extents = layout.shape();
        let tiles: Vec<(u32, u32)> =
            sums.keys().copied().filter(|at| at.0 & 8 == 0 && at.1 & 1 == 0).collect();
        let steps = a.steps(1, within);
        for (index, &step) in steps.iter().enumerate() {
            for &ahead in &steps[index..steps.len().min(index + 2)] {
                self.fetch_operand(&mut a, 1, ahead, ahead + 2 * half);
                self.fetch_operand(&mut b, 0, ahead, ahead + 2 * half);
            }
            for &(row, column) in &tiles {
                let left =
                    [(row, step), (row + 8, step), (row, step + half), (row + 8, step + half)]
                        .map(|at| self.operand_word(kind, &a, at, (0, 1)));
                let right = [(step, column), (step + half, column)]
                    .map(|at| self.operand_word(kind, &b, at, (1, 0)));
                let places =
                    [(row, column), (row, column + 1), (row + 8, column), (row + 8, column + 1)]
                        .map(|(row, column)| (row % extents[0], column % extents[1]));
                let before = places.map(|at| sums[&at]);
                let (registers, sources) = if wide {
                    (vec![Type::F32; 4], before.to_vec())
                } else {
                    let pairs = before.chunks(2).map(|pair| self.e.pack(pair[0], pair[1]));
                    (vec![Type::B32; 2], pairs.collect())
                };
                let sources: Vec<Reg> = sources
                    .into_iter()
                    .zip(&registers)
                    .map(|(value, &ty)| self.e.reg(value, ty))
                    .collect();
                let targets: Vec<Reg> = registers.into_iter().map(|ty| self.e.fresh(ty)).collect();
                let operands = [&targets[..], &left, &right, &sources].map(vector);
                self.e.push(Instruction::new(Opcode::Mma, modifiers.clone(), operands), 1, false);
                let after: Vec<Val> = if wide {
                    targets.into_iter().map(Val::Reg).collect()
                } else {
                    targets.into_iter().flat_map(|word| self.e.unpack(Val::Reg(word))).collect()
                };
                sums.extend(places.into_iter().zip(after));
            }
        }
        gathered(layout, &sums)
    }

    /// The word of an operand at a register's coordinates: two neighbours along k, or one tf32.
    fn operand_word(
        &mut self,
        kind: Type,
        fragment: &Fragment,
        at: (u32, u32),
        next: (u32, u32),
    ) -> Reg {
        let (depth, extent) =
            if next.1 == 1 { (at.1, fragment.shape[1]) } else { (at.0, fragment.shape[0]) };
        // Beyond the tile's own k there is nothing to add.
        let outside = depth >= extent;
        let word = if kind == Type::Tf32 {
            let value = if outside { Val::F32(0) } else { fragment.at(at.0, at.1) };
            self.e.pure(Opcode::Cvt, mods![Word::Rna, Type::Tf32, Type::F32], Type::B32, &[value])
        } else if outside {
            Val::Int(0)
        } else {
            let (low, high) = (fragment.at(at.0, at.1), fragment.at(at.0 + next.0, at.1 + next.1));
            self.e.pack(low, high)
        };
        self.e.reg(word, Type::B32)
    }

    /// Every thread multiplies what it has of rows and columns: the slow way, right for every type.
    fn scalar_products(
        &mut self,
        [operand, sum]: [Dtype; 2],
        [mut a, mut b]: [Fragment; 2],
        layout: &Layout,
        accumulator: &[Val],
    ) -> Vec<Val> {
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
            return matches!(op, Op::Dot { .. }) && args[2] != value;
        }
        let quiet = matches!(
            op,
            Op::Const(_)
                | Op::Arange(_)
                | Op::Splat
                | Op::Unary(_)
                | Op::Binary(_)
                | Op::Compare(_)
                | Op::Select
                | Op::Fma
                | Op::Cast
                | Op::SharedIndex
                | Op::SharedTranspose
                | Op::LoadShared
        );
        if !quiet {
            return false;
        }
    }
    false
}

/// Whether the lanes of a layout are those of the accumulator of `mma.sync`, as far as the tile reaches.
fn is_accumulator(layout: &Layout) -> bool {
    let shape = layout.shape();
    let required: [[u32; 2]; 5] = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]];
    let lanes = layout.bases(Dim::Lane);
    lanes.len() == 5
        && lanes
            .iter()
            .zip(required)
            .all(|(basis, required)| (0..2).all(|axis| basis[axis] == required[axis] % shape[axis]))
}

/// The registers of a layout from values by coordinates.
fn gathered(layout: &Layout, values: &BTreeMap<(u32, u32), Val>) -> Vec<Val> {
    places(layout).map(|(_, at)| values[&at]).collect()
}

/// `{a, b, ..}`
fn vector(registers: &[Reg]) -> Operand {
    Operand::Vector(registers.iter().map(|&register| Operand::Reg(register)).collect())
}
