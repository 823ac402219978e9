//! Reductions: within a thread, over the lanes of a warp, then over warps through shared memory.

use std::collections::BTreeMap;

use kernel_layout::forms::blocked_for;
use kernel_layout::{Dim, Layout};
use kernel_ptx::{Space, Type, Word};

use super::coords::{ThreadMap, register_part, repeated_threads};
use super::emitter::Val;
use super::memory::bytes;
use super::tensor::repeated_registers;
use super::{Data, Lower};
use crate::ir::{Binary, Elem, Op, Region, StmtKind, Terminator, Value};

impl Lower<'_> {
    /// Reduces one axis of tiles.
    pub(super) fn reduce(
        &mut self,
        args: &[Value],
        axis: u32,
        combine: &Region,
        results: &[Value],
    ) {
        let axis = axis as usize;
        let shape = self.kernel.ty(args[0]).shape().to_vec();
        let mut layout = self.layout(args[0]).clone();
        let elems: Vec<Elem> = args.iter().map(|&arg| self.elem(arg)).collect();
        if !separates(&layout, axis) {
            // No thread holds whole runs of the axis: another layout does.
            let order: Vec<u32> = (0u32..).take(shape.len()).collect();
            layout = blocked_for(&shape, &order, 1, self.kernel.warps);
        }
        let mut operands: Vec<Vec<Val>> = Vec::new();
        for (&arg, &elem) in args.iter().zip(&elems) {
            let (values, from) = (self.tile(arg).to_vec(), self.layout(arg).clone());
            operands.push(self.convert(elem, &values, &from, &layout));
        }
        let mut partial = self.within_thread(&layout, axis, combine, &operands);
        for (bit, basis) in layout.bases(Dim::Lane).to_vec().iter().enumerate() {
            if basis[axis] != 0 {
                for values in partial.values_mut() {
                    *values = self.across_lanes(combine, &elems, values, bit);
                }
            }
        }
        self.across_warps(&layout, axis, combine, &elems, &partial, results);
    }

    /// What each thread has, reduced: by the coordinates that remain.
    fn within_thread(
        &mut self,
        layout: &Layout,
        axis: usize,
        combine: &Region,
        operands: &[Vec<Val>],
    ) -> BTreeMap<Vec<u32>, Vec<Val>> {
        let repeated = repeated_registers(layout);
        let mut partial: BTreeMap<Vec<u32>, Vec<Val>> = BTreeMap::new();
        let mut registers: Vec<u32> = (0..layout.in_size(Dim::Register))
            .filter(|register| register & repeated == 0)
            .collect();
        registers.sort_by_key(|&register| register_part(layout, register, axis));
        for register in registers {
            let mut place: Vec<u32> = layout.apply(&[(Dim::Register, register)]);
            place.remove(axis);
            let next: Vec<Val> =
                operands.iter().map(|operand| operand[register as usize]).collect();
            let value = match partial.get(&place) {
                Some(before) => self.combined(combine, &before.clone(), &next),
                None => next,
            };
            partial.insert(place, value);
        }
        partial
    }

    /// Applies the function of two values.
    pub(super) fn combined(&mut self, combine: &Region, before: &[Val], next: &[Val]) -> Vec<Val> {
        for (&arg, &value) in combine.args.iter().zip(before.iter().chain(next)) {
            self.values.insert(arg, Data::Scalar(value));
        }
        let loc = self.e.loc;
        self.statements(combine);
        self.e.loc = loc;
        match &combine.end {
            Terminator::Yield(values) => values.iter().map(|&value| self.scalar(value)).collect(),
            Terminator::Return | Terminator::Continue(..) | Terminator::Break(..) => {
                unreachable!("ir::verify rejects a combine function that does not yield")
            }
        }
    }

    fn across_lanes(
        &mut self,
        combine: &Region,
        elems: &[Elem],
        values: &[Val],
        bit: usize,
    ) -> Vec<Val> {
        let others: Vec<Val> = values
            .iter()
            .zip(elems)
            .map(|(&value, &elem)| self.e.butterfly(elem, value, 1 << bit))
            .collect();
        if commutes(combine) {
            return self.combined(combine, values, &others);
        }
        // Both lanes must compute the same, so the lower lane's value comes first in both.
        let thread = self.e.thread();
        let upper = self.e.and(Type::U32, thread, Val::Int(1 << bit));
        let upper = self.e.compare(Word::Ne, Type::S32, upper, Val::Int(0));
        let mut sorted = [Vec::new(), Vec::new()];
        for ((&own, other), &elem) in values.iter().zip(others).zip(elems) {
            let ty = match elem {
                Elem::Ptr(_) => Type::S64,
                Elem::Number(dtype) => super::scalar::arithmetic(dtype),
            };
            sorted[0].push(self.e.select(ty, upper, other, own));
            sorted[1].push(self.e.select(ty, upper, own, other));
        }
        let [before, next] = sorted;
        self.combined(combine, &before, &next)
    }

    /// Joins the warps, and brings the results to their layouts.
    fn across_warps(
        &mut self,
        layout: &Layout,
        axis: usize,
        combine: &Region,
        elems: &[Elem],
        partial: &BTreeMap<Vec<u32>, Vec<Val>>,
        results: &[Value],
    ) {
        let rest = layout.slice(axis);
        let warps: Vec<usize> = (0..)
            .zip(layout.bases(Dim::Warp))
            .filter(|(_, basis)| basis[axis] != 0)
            .map(|(bit, _)| bit)
            .collect();
        let scalar = rest.outs().is_empty();
        if warps.is_empty() {
            let held: Vec<Vec<u32>> = (0..rest.in_size(Dim::Register))
                .map(|register| rest.apply(&[(Dim::Register, register)]))
                .collect();
            for (index, (&result, &elem)) in results.iter().zip(elems).enumerate() {
                let values: Vec<Val> = held.iter().map(|place| partial[place][index]).collect();
                let data = if scalar {
                    Data::Scalar(values[0])
                } else {
                    let to = self.layout(result).clone();
                    Data::Tile(self.convert(elem, &values, &rest, &to))
                };
                self.values.insert(result, data);
            }
            return;
        }
        // Shared memory holds, for each warp along the axis, what remains in row-major order.
        let count: u32 = rest.shape().iter().product();
        let parts = 1u32 << warps.len();
        let mut starts = Vec::new();
        let mut bytes_so_far = 0;
        for &elem in elems {
            starts.push(bytes_so_far);
            bytes_so_far += (count * parts * bytes(elem)).next_multiple_of(16);
        }
        let scratch = self.scratch(bytes_so_far);
        let flat = |layout: &Layout, basis: &[u32]| {
            u32::try_from(layout.flatten_out(basis)).expect("a tile's index")
        };
        let repeated = repeated_threads(layout, self.kernel.warps)
            | axis_lanes(layout, axis)
            | (repeated_threads(&rest, self.kernel.warps)
                & !warps.iter().fold(0, |mask, bit| mask | 32u32 << bit));
        let one = self.e.first_of(repeated);
        for (index, &elem) in elems.iter().enumerate() {
            let size = bytes(elem);
            let mut bases: Vec<u32> =
                rest.bases(Dim::Lane).iter().map(|basis| flat(&rest, basis) * size).collect();
            bases.resize(5, 0);
            for (bit, basis) in rest.bases(Dim::Warp).iter().enumerate() {
                let part =
                    warps.iter().position(|&other| other == bit).map_or(0, |place| count << place);
                bases.push((part | flat(&rest, basis)) * size);
            }
            let map = ThreadMap::new(bases);
            for (place, values) in partial {
                let address =
                    self.scratch_address(scratch + starts[index], &map, flat(&rest, place) * size);
                self.e.store(Space::Shared, elem, &values[index..=index], address, one);
            }
        }
        self.barrier();
        let targets: Vec<Layout> = results
            .iter()
            .map(|&result| if scalar { rest.clone() } else { self.layout(result).clone() })
            .collect();
        let registers = targets[0].in_size(Dim::Register);
        let same = targets.iter().all(|target| *target == targets[0]);
        let target = if same { targets[0].clone() } else { rest.clone() };
        let registers = if same { registers } else { rest.in_size(Dim::Register) };
        let mut joined: Vec<Vec<Val>> = vec![Vec::new(); elems.len()];
        for register in 0..registers {
            let place = flat(&target, &target.apply(&[(Dim::Register, register)]));
            let mut value: Option<Vec<Val>> = None;
            for part in 0..parts {
                let mut next = Vec::new();
                for (index, &elem) in elems.iter().enumerate() {
                    let size = bytes(elem);
                    let thread =
                        |dim| target.bases(dim).iter().map(|basis| flat(&target, basis) * size);
                    let map = ThreadMap::new(thread(Dim::Lane).chain(thread(Dim::Warp)).collect());
                    let start = scratch + starts[index] + part * count * size;
                    let address = self.scratch_address(start, &map, place * size);
                    next.extend(self.e.load(Space::Shared, elem, 1, address, Val::Int(1), None));
                }
                value = Some(match value {
                    Some(before) => self.combined(combine, &before, &next),
                    None => next,
                });
            }
            for (list, value) in joined.iter_mut().zip(value.expect("there is a part")) {
                list.push(value);
            }
        }
        self.plan.dirty = true;
        for ((&result, values), &elem) in results.iter().zip(joined).zip(elems) {
            let data = if scalar {
                Data::Scalar(values[0])
            } else {
                let to = self.layout(result).clone();
                Data::Tile(self.convert(elem, &values, &target, &to))
            };
            self.values.insert(result, data);
        }
    }
}

/// Whether every basis walks either the axis or the others, so that they can be reduced one after the other.
pub(super) fn separates(layout: &Layout, axis: usize) -> bool {
    let mut seen = 0u32;
    layout.ins().iter().flat_map(|(_, bases)| bases).all(|basis| {
        let along = basis[axis];
        let elsewhere = basis.iter().enumerate().any(|(other, &part)| other != axis && part != 0);
        // Along the axis each bit is walked once, or an element would count twice.
        let single = along & seen == 0;
        seen |= along;
        along == 0 || (!elsewhere && single)
    })
}

/// The bits of the thread's index, within a warp, that walk the axis.
fn axis_lanes(layout: &Layout, axis: usize) -> u32 {
    layout
        .bases(Dim::Lane)
        .iter()
        .enumerate()
        .filter(|(_, basis)| basis[axis] != 0)
        .fold(0, |mask, (bit, _)| mask | 1 << bit)
}

/// Whether the function is one operation that gives the same bits with its operands exchanged.
fn commutes(combine: &Region) -> bool {
    let [stmt] = &combine.stmts[..] else { return false };
    match &stmt.kind {
        StmtKind::Op { op: Op::Binary(op), args, .. } => {
            let both = combine.args.len() == 2
                && args.iter().all(|arg| combine.args.contains(arg))
                && args[0] != args[1];
            both && match op {
                Binary::Add
                | Binary::Mul
                | Binary::And
                | Binary::Or
                | Binary::Xor
                | Binary::Min
                | Binary::Max => true,
                Binary::Sub | Binary::Div | Binary::Rem | Binary::Shl | Binary::Shr => false,
            }
        }
        StmtKind::Op { .. }
        | StmtKind::If { .. }
        | StmtKind::For { .. }
        | StmtKind::Loop { .. }
        | StmtKind::Reduce { .. }
        | StmtKind::Scan { .. } => false,
    }
}
