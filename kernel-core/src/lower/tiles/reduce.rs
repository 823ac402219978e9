//! Reductions: within a thread, over the lanes of a warp, then over warps through shared memory.

use std::collections::BTreeMap;

use kernel_layout::forms::blocked_for;
use kernel_layout::{Dim, Exchange, Layout};
use kernel_ptx::{Type, Word};

use super::coords::{register_part, repeated_threads};
use crate::ir::{Binary, Elem, ElementwiseOp, Op, Region, StmtKind, Terminator, Value};
use crate::lower::emitter::Val;
use crate::lower::memory::access::{VECTOR_BYTES, bytes};
use crate::lower::{Data, Lower};

impl Lower<'_> {
    /// Reduces one axis of tiles.
    pub(crate) fn reduce(
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
            layout = blocked_for(&shape, &order, 1, self.crew.warps);
        }
        let mut operands: Vec<Vec<Val>> = Vec::new();
        for (&arg, &elem) in args.iter().zip(&elems) {
            let (values, from) = (self.tile(arg).to_vec(), self.layout(arg).clone());
            operands.push(self.convert(elem, &values, &from, &layout));
        }
        let mut partial = self.within_thread(&layout, axis, combine, &operands);
        if let Some(whole) = self.whole_warp(&layout, axis, combine, &elems) {
            for values in partial.values_mut() {
                values[0] = self.reduce_warp(whole, values[0]);
            }
        } else {
            for (bit, basis) in layout.bases(Dim::Lane).to_vec().iter().enumerate() {
                if basis[axis] != 0 {
                    for values in partial.values_mut() {
                        *values = self.across_lanes(combine, &elems, values, bit);
                    }
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
        // Each element once: bases may repeat others, or sums of them.
        let repeated = layout.free_variable_mask(Dim::Register);
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
    pub(crate) fn combined(&mut self, combine: &Region, before: &[Val], next: &[Val]) -> Vec<Val> {
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
        if commutative(combine).is_some() {
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

    /// Combines the warps, and converts the results to their layouts.
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
        let warps = warps_along(layout, axis);
        let scalar = rest.outs().is_empty();
        let held: Vec<Vec<u32>> = (0..rest.in_size(Dim::Register))
            .map(|register| rest.apply(&[(Dim::Register, register)]))
            .collect();
        if warps.is_empty() {
            for (index, (&result, &elem)) in results.iter().zip(elems).enumerate() {
                let values: Vec<Val> = held.iter().map(|place| partial[place][index]).collect();
                self.set_reduced(result, elem, &values, &rest);
            }
            return;
        }
        let targets: Vec<Layout> = results
            .iter()
            .map(|&result| if scalar { rest.clone() } else { self.layout(result).clone() })
            .collect();
        let same = targets.iter().all(|target| *target == targets[0]);
        let target = if same { targets[0].clone() } else { rest.clone() };
        let parts = Parts::new(&rest, &warps, &target);
        let exchanges: Vec<Exchange> = elems
            .iter()
            .map(|&elem| Exchange::between(&parts.writer, &parts.reader, bytes(elem)))
            .collect();
        let mut starts = Vec::new();
        let mut bytes_so_far = 0;
        for (exchange, &elem) in exchanges.iter().zip(elems) {
            starts.push(bytes_so_far);
            let needed = exchange.shared.in_size(Dim::Offset) * bytes(elem);
            bytes_so_far += needed.next_multiple_of(VECTOR_BYTES);
        }
        let scratch = self.scratch(bytes_so_far);
        let one = self.e.first_of(repeated_threads(&parts.writer, self.crew.warps));
        for (index, (exchange, &elem)) in exchanges.iter().zip(elems).enumerate() {
            let values: Vec<Val> = held.iter().map(|place| partial[place][index]).collect();
            let start = scratch + starts[index];
            self.write_exchange(exchange, &parts.writer, start, elem, &values, one);
        }
        self.barrier();
        let read: Vec<Vec<Val>> = exchanges
            .iter()
            .zip(elems)
            .zip(&starts)
            .map(|((exchange, &elem), start)| {
                self.read_exchange(exchange, &parts.reader, scratch + start, elem)
            })
            .collect();
        let mut joined: Vec<Vec<Val>> = vec![Vec::new(); elems.len()];
        for register in 0..target.in_size(Dim::Register) as usize {
            let part = |part: usize| -> Vec<Val> {
                read.iter().map(|values| values[register << warps.len() | part]).collect()
            };
            let value = (1..1 << warps.len())
                .fold(part(0), |before, next| self.combined(combine, &before, &part(next)));
            for (list, value) in joined.iter_mut().zip(value) {
                list.push(value);
            }
        }
        self.leave_scratch();
        for ((&result, values), &elem) in results.iter().zip(joined).zip(elems) {
            self.set_reduced(result, elem, &values, &target);
        }
    }

    /// Sets a result that threads hold in the layout `from`.
    fn set_reduced(&mut self, result: Value, elem: Elem, values: &[Val], from: &Layout) {
        let data = if from.outs().is_empty() {
            Data::Scalar(values[0])
        } else {
            let to = self.layout(result).clone();
            Data::Tile(self.convert(elem, values, from, &to))
        };
        self.values.insert(result, data);
    }
}

/// What the warps along an axis have, as a tile with one more axis in front: the warps' parts.
pub(crate) struct Parts {
    /// Each warp holds its part.
    pub(crate) writer: Layout,
    /// Each thread has all parts, in its lowest register bits, of what it holds of the result.
    pub(crate) reader: Layout,
}

impl Parts {
    /// `rest` is the layout without the axis, `warps` the bits of the warp that walk the axis, `target` the result's layout.
    pub(crate) fn new(rest: &Layout, warps: &[usize], target: &Layout) -> Parts {
        let outs: Vec<(Dim, u32)> = std::iter::once(1 << warps.len())
            .chain(rest.shape())
            .enumerate()
            .map(|(axis, extent)| (Dim::axis(axis), extent))
            .collect();
        let of = |layout: &Layout, dim: Dim, part: &dyn Fn(usize) -> u32| -> Vec<Vec<u32>> {
            let bases = layout.bases(dim).iter().enumerate();
            bases.map(|(bit, basis)| [vec![part(bit)], basis.clone()].concat()).collect()
        };
        let none = |_| 0;
        let part = |bit| warps.iter().position(|&other| other == bit).map_or(0, |place| 1 << place);
        let layout = |ins: Vec<(Dim, Vec<Vec<u32>>)>| {
            Layout::new(ins, outs.clone()).expect("the bases of a layout, and an axis more")
        };
        let writer = layout(vec![
            (Dim::Register, of(rest, Dim::Register, &none)),
            (Dim::Lane, of(rest, Dim::Lane, &none)),
            (Dim::Warp, of(rest, Dim::Warp, &part)),
        ]);
        let all = (0..warps.len()).map(|bit| {
            let mut basis = vec![0; outs.len()];
            basis[0] = 1 << bit;
            basis
        });
        let reader = layout(vec![
            (Dim::Register, all.chain(of(target, Dim::Register, &none)).collect()),
            (Dim::Lane, of(target, Dim::Lane, &none)),
            (Dim::Warp, of(target, Dim::Warp, &none)),
        ]);
        Parts { writer, reader }
    }
}

/// The bits of the warp that walk an axis.
pub(crate) fn warps_along(layout: &Layout, axis: usize) -> Vec<usize> {
    let bases = layout.bases(Dim::Warp).iter().enumerate();
    bases.filter(|(_, basis)| basis[axis] != 0).map(|(bit, _)| bit).collect()
}

/// Whether every basis walks either the axis or the others, so that they can be reduced one after the other.
pub(crate) fn separates(layout: &Layout, axis: usize) -> bool {
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

/// The operation that the function of one operand is, if it is one that gives the same bits with its operands exchanged.
pub(super) fn commutative(combine: &Region) -> Option<Binary> {
    let [stmt] = &combine.stmts[..] else { return None };
    let StmtKind::Op { op: Op::Elementwise(ElementwiseOp::Binary(op)), args, .. } = &stmt.kind
    else {
        return None;
    };
    let both = combine.args.len() == 2
        && args.iter().all(|arg| combine.args.contains(arg))
        && args[0] != args[1];
    let commutes = match op {
        Binary::Add
        | Binary::Mul
        | Binary::And
        | Binary::Or
        | Binary::Xor
        | Binary::Min
        | Binary::Max
        | Binary::MulHi => true,
        Binary::Sub
        | Binary::Div
        | Binary::Rem
        | Binary::Shl
        | Binary::Shr
        | Binary::Copysign
        | Binary::Powf => false,
    };
    (both && commutes).then_some(*op)
}
