//! Flips: each element comes from the position whose bits along the axis are the complement of its own.
//!
//! Layouts are linear, so one exclusive or of the register's, the lane's and the warp's number leads there from every element:
//! registers are renamed, lanes exchange by `shfl.sync.bfly`, warps through shared memory.

use std::collections::BTreeMap;

use kernel_layout::{Dim, Exchange, Layout};

use super::convert::exchange_cost;
use super::coords::repeated_threads;
use super::crossing::Crossing;
use crate::ir::{Elem, Value};
use crate::lower::Lower;
use crate::lower::emitter::Val;
use crate::lower::memory::access::bytes;

/// Lane bits of the thread's index.
const LANES: u32 = 31;

/// What leads from an element to the one that it changes places with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Way {
    /// Bits of the register's index that differ.
    pub(super) register: u32,
    /// Bits of the thread's index that differ.
    pub(super) thread: u32,
}

/// The places, as bits, to which known ways lead: by the highest bit of each, which no other of them has as its highest.
#[derive(Default)]
struct Reached(BTreeMap<u32, (u32, Way)>);

impl Reached {
    /// What is left of a place after ways that are known, and these after `way`.
    fn rest(&self, mut place: u32, mut way: Way) -> (u32, Way) {
        for (&highest, &(other, step)) in self.0.iter().rev() {
            if place >> highest & 1 == 1 {
                place ^= other;
                way.register ^= step.register;
                way.thread ^= step.thread;
            }
        }
        (place, way)
    }
}

impl Way {
    fn new(layout: &Layout, axis: usize) -> Way {
        let shape = layout.shape();
        // Extents are powers of two, so that the bits of a place in row-major order are those of its coordinates.
        let bits = |place: &[u32]| {
            place.iter().zip(&shape).fold(0, |bits, (at, extent)| bits * extent + at)
        };
        let of = |dim, way: fn(u32) -> Way| {
            let bases = layout.bases(dim).iter().zip(0u32..);
            bases.map(move |(basis, bit)| (basis, way(1 << bit)))
        };
        let registers = of(Dim::Register, |register| Way { register, thread: 0 });
        let lanes = of(Dim::Lane, |thread| Way { register: 0, thread });
        let warps = of(Dim::Warp, |warp| Way { register: 0, thread: warp * (LANES + 1) });
        // Where several ways lead to one place, the first is taken: registers cost nothing, and lanes less than warps.
        let mut reached = Reached::default();
        for (basis, way) in registers.chain(lanes).chain(warps) {
            let (place, way) = reached.rest(bits(basis), way);
            if let Some(highest) = place.checked_ilog2() {
                reached.0.insert(highest, (place, way));
            }
        }
        let mut last = vec![0; shape.len()];
        last[axis] = shape[axis] - 1;
        reached.rest(bits(&last), Way::default()).1
    }

    /// This way and then another one, which has none of its bits.
    pub(super) fn and(self, other: Way) -> Way {
        Way { register: self.register | other.register, thread: self.thread | other.thread }
    }

    pub(super) fn crosses_warps(self) -> bool {
        self.thread & !LANES != 0
    }
}

/// What lowering does for a flip of an axis of a tile in a layout.
pub(crate) fn flip_cost(elem: Elem, layout: &Layout, axis: usize) -> Crossing {
    let way = Way::new(layout, axis);
    if way.crosses_warps() {
        Crossing::Shared(exchange_cost(elem, layout, layout))
    } else if way.thread != 0 {
        Crossing::Lanes
    } else {
        Crossing::Threads
    }
}

impl Lower<'_> {
    /// The elements of a tile along an axis in reverse order.
    pub(crate) fn flip(&mut self, axis: usize, arg: Value, result: Value) -> Vec<Val> {
        let (layout, elem) = (self.layout(arg).clone(), self.elem(arg));
        let values = self.tile(arg).to_vec();
        let way = Way::new(&layout, axis);
        let moved = if way.crosses_warps() {
            self.of_other_warps(elem, &values, &layout, way.thread)
        } else if way.thread != 0 {
            self.of_other_lanes(elem, &values, &layout, way.thread)
        } else {
            values
        };
        let flipped: Vec<Val> = (0..layout.in_size(Dim::Register))
            .map(|register| moved[(register ^ way.register) as usize])
            .collect();
        let to = self.layout(result).clone();
        self.convert(elem, &flipped, &layout, &to)
    }

    /// What the threads hold whose index differs in the bits of `thread`, through shared memory.
    pub(super) fn of_other_warps(
        &mut self,
        elem: Elem,
        values: &[Val],
        layout: &Layout,
        thread: u32,
    ) -> Vec<Val> {
        let size = bytes(elem);
        let exchange = Exchange::between(layout, layout, size);
        let scratch = self.scratch(exchange.shared.in_size(Dim::Offset) * size);
        let one = self.e.first_of(repeated_threads(layout, self.crew.warps));
        self.write_exchange(&exchange, layout, scratch, elem, values, one);
        self.barrier();
        let moved = self.read_exchange_of(&exchange, layout, scratch, elem, thread);
        self.leave_scratch();
        moved
    }

    /// What the lanes hold whose number differs in the bits of `lanes`.
    fn of_other_lanes(
        &mut self,
        elem: Elem,
        values: &[Val],
        layout: &Layout,
        lanes: u32,
    ) -> Vec<Val> {
        // Registers that hold the same element move once, and two halves share a word.
        let place = |register| layout.apply(&[(Dim::Register, register)]);
        let mut places: Vec<Vec<u32>> = Vec::new();
        let mut own = Vec::new();
        for (register, &value) in (0..).zip(values) {
            if !places.contains(&place(register)) {
                places.push(place(register));
                own.push(value);
            }
        }
        let half = matches!(elem, Elem::Number(dtype) if dtype.is_half());
        let chunks = own.chunks(if half { 2 } else { 1 });
        let moved: Vec<Val> =
            chunks.flat_map(|chunk| self.e.butterflies(elem, chunk, lanes)).collect();
        let moved: BTreeMap<Vec<u32>, Val> = places.into_iter().zip(moved).collect();
        (0..layout.in_size(Dim::Register)).map(|register| moved[&place(register)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use kernel_layout::forms::blocked;
    use kernel_layout::{Dim, Layout};

    use super::{LANES, Way};

    #[test]
    fn a_way_leads_from_each_element_to_the_one_that_it_changes_places_with() {
        let linear = |registers: &[[u32; 2]], lanes: &[[u32; 2]], warps: &[[u32; 2]]| {
            let bases = |list: &[[u32; 2]]| list.iter().map(|basis| basis.to_vec()).collect();
            let ins = [
                (Dim::Register, bases(registers)),
                (Dim::Lane, bases(lanes)),
                (Dim::Warp, bases(warps)),
            ];
            let outs = [(Dim::axis(0), 8), (Dim::axis(1), 16)];
            Layout::new(ins.to_vec(), outs.to_vec()).expect("a layout")
        };
        let blocked = |per_thread: &[u32], lanes: &[u32], warps: &[u32]| {
            blocked(per_thread, lanes, warps, &[1, 0], &[8, 16]).expect("a layout")
        };
        let layouts = [
            blocked(&[1, 4], &[8, 4], &[1, 1]),
            blocked(&[1, 1], &[2, 16], &[4, 1]),
            blocked(&[2, 2], &[4, 8], &[2, 2]),
            // Bits walk both axes at once.
            linear(&[[1, 1]], &[[2, 0], [4, 2], [0, 2], [0, 4], [1, 8]], &[[0, 1]]),
            // Registers, lanes and warps hold the same elements.
            linear(
                &[[0, 1], [0, 1], [0, 0]],
                &[[1, 0], [2, 0], [4, 0], [0, 2], [0, 4]],
                &[[0, 8], [0, 2]],
            ),
        ];
        for layout in &layouts {
            let threads = layout.in_size(Dim::Lane) * layout.in_size(Dim::Warp);
            let place = |register: u32, thread: u32| {
                let (lane, warp) = (thread & LANES, thread / (LANES + 1));
                layout.apply(&[(Dim::Register, register), (Dim::Lane, lane), (Dim::Warp, warp)])
            };
            for axis in [0, 1] {
                let way = Way::new(layout, axis);
                for (register, thread) in (0..layout.in_size(Dim::Register))
                    .flat_map(|register| (0..threads).map(move |thread| (register, thread)))
                {
                    let mut required = place(register, thread);
                    required[axis] = layout.shape()[axis] - 1 - required[axis];
                    let actual = place(register ^ way.register, thread ^ way.thread);
                    assert_eq!(required, actual, "axis {axis} of {layout}");
                }
            }
        }
    }
}
