//! Sorts of integers by a bitonic network.
//!
//! The places of a line are numbered anew: the bits of the register's index along the axis are the lowest bits of a place, then come
//! those of the lane, then those of the warp. Where an element is at the start does not matter, so that nothing moves for that. The lower a
//! bit of the place, the more steps compare elements that differ in it.
//!
//! Sorted runs of one place become runs of two, of four, and so on. To merge two runs, each element is first compared with the one at the
//! place in which all bits of the merged run are inverted, then with the ones that differ in one bit, from the second highest down. The element
//! at the lower place always keeps the lesser of the two, so that no step depends on the direction of a run.
//!
//! ```text
//! 3 7 | 8 1 -> 3 7 | 1 8     runs of two
//! 3 7   1 8 -> 3 1   7 8     places 0 and 3, 1 and 2
//! 3 1   7 8 -> 1 3   7 8     places 0 and 1, 2 and 3
//! ```
//!
//! If only the least elements are to stay, runs of as many are sorted. The first step of a merge then leaves the lesser elements, which are
//! merged further, and the others are dropped.

use kernel_layout::forms::blocked_for;
use kernel_layout::{Dim, Layout};
use kernel_ptx::{Type, Word};

use super::convert::exchange_cost;
use super::crossing::Crossing;
use super::flip::Way;
use super::reduce::separates;
use super::scalar::arithmetic;
use crate::ir::{Binary, Dtype, Elem, Value};
use crate::lower::Lower;
use crate::lower::emitter::Val;
use crate::lower::memory::access_cost::SharedTrip;

/// Lane bits of the thread's index.
const LANES: u32 = 31;

/// The places of the elements of lines along an axis.
struct Places {
    /// A layout in which a bit of an index walks either the axis or other axes.
    layout: Layout,
    axis: usize,
    /// The bit of an index that is each bit of a place.
    bits: Vec<Way>,
    /// How many of these bits the places of the elements have that stay.
    kept: usize,
}

/// The elements that threads hold while they are sorted.
struct Held {
    dtype: Dtype,
    values: Vec<Val>,
    /// The bits of the register's index in which elements were dropped: only registers without them count.
    dropped: u32,
}

impl Held {
    fn registers(&self) -> impl Iterator<Item = u32> + use<> {
        let dropped = self.dropped;
        let count = u32::try_from(self.values.len()).expect("a thread has few registers");
        (0..count).filter(move |register| register & dropped == 0)
    }
}

impl Places {
    fn new(layout: &Layout, axis: usize, kept: u32, warps: u32) -> Places {
        let mut layout = layout.remove_zero_bases(Dim::Register);
        if !separates(&layout, axis) {
            let order: Vec<u32> = (0u32..).take(layout.shape().len()).collect();
            layout = blocked_for(&layout.shape(), &order, 1, warps);
        }
        let along = |dim, way: fn(u32) -> Way| {
            let bases = layout.bases(dim).iter().zip(0u32..);
            let along = bases.filter(|(basis, _)| basis[axis] != 0);
            along.map(|(_, bit)| way(1 << bit)).collect::<Vec<Way>>()
        };
        let bits = [
            along(Dim::Register, |register| Way { register, thread: 0 }),
            along(Dim::Lane, |thread| Way { register: 0, thread }),
            along(Dim::Warp, |warp| Way { register: 0, thread: warp * (LANES + 1) }),
        ]
        .concat();
        Places { layout, axis, bits, kept: kept.trailing_zeros() as usize }
    }

    /// The bits of an index in which two places differ that differ in some of their bits.
    fn way(&self, bits: impl Iterator<Item = usize>) -> Way {
        bits.fold(Way::default(), |all, bit| all.and(self.bits[bit]))
    }

    /// The layout in which elements are at their places, with only these bits of a place.
    fn layout_of(&self, bits: impl Iterator<Item = usize>) -> Layout {
        let left: Vec<Way> = bits.map(|bit| self.bits[bit]).collect();
        let place = |way: Way| left.iter().position(|&bit| bit == way).map_or(0, |bit| 1 << bit);
        let ins = self.layout.ins().iter().map(|(dim, bases)| {
            let bases = bases.iter().zip(0u32..).map(|(basis, bit)| {
                let way = match dim {
                    Dim::Register => Way { register: 1 << bit, thread: 0 },
                    Dim::Lane => Way { register: 0, thread: 1 << bit },
                    Dim::Warp => Way { register: 0, thread: (LANES + 1) << bit },
                    Dim::Block | Dim::Offset | Dim::Row | Dim::Col | Dim::Axis(_) => {
                        unreachable!("layouts::infer makes no tiles over other dimensions")
                    }
                };
                let mut basis = basis.clone();
                basis[self.axis] = place(way);
                basis
            });
            (*dim, bases.collect())
        });
        let mut outs = self.layout.outs().to_vec();
        outs[self.axis].1 = 1 << left.len();
        Layout::new(ins.collect(), outs).expect("the axis keeps as many bits as are left of it")
    }
}

/// What lowering does for a sort of lines along an axis of a tile in a layout, of which so many elements are kept.
pub(crate) fn sort_cost(elem: Elem, layout: &Layout, axis: usize, kept: u32) -> Crossing {
    let places = Places::new(layout, axis, kept, layout.in_size(Dim::Warp));
    let (kept, all) = (places.kept, places.bits.len());
    let crosses =
        |ways: &mut dyn Iterator<Item = Way>| ways.filter(|way| way.crosses_warps()).count();
    let merges = |bits: usize| crosses(&mut places.bits[..bits].iter().copied());
    let sorting =
        (0..kept).map(|bit| usize::from(places.way(0..=bit).crosses_warps()) + merges(bit));
    let keeping = (kept..all).map(|bit| {
        let way = places.way(0..kept).and(places.bits[bit]);
        usize::from(way.crosses_warps()) + merges(kept)
    });
    let trips: usize = sorting.chain(keeping).sum();
    if trips > 0 {
        let trip = exchange_cost(elem, &places.layout, &places.layout);
        let trips = u32::try_from(trips).expect("a line has few bits");
        return Crossing::Shared(SharedTrip { conflicts: trip.conflicts * trips, ..trip });
    }
    let lanes = places.bits.iter().any(|bit| bit.thread != 0);
    if lanes { Crossing::Lanes } else { Crossing::Threads }
}

impl Lower<'_> {
    /// The least integers along an axis in ascending order, as many as the result has.
    pub(crate) fn sort(&mut self, axis: usize, arg: Value, result: Value) -> Vec<Val> {
        let (from, to) = (self.layout(arg).clone(), self.layout(result).clone());
        let elem = self.elem(arg);
        let Elem::Number(dtype) = elem else {
            unreachable!("ir::verify rejects a sort of addresses")
        };
        let places = Places::new(&from, axis, to.shape()[axis], self.crew.warps);
        let values = self.tile(arg).to_vec();
        let values = self.convert(elem, &values, &from, &places.layout);
        let mut held = Held { dtype, values, dropped: 0 };
        for bit in 0..places.kept {
            self.compare_and_exchange(&places, &mut held, places.way(0..=bit), places.bits[bit]);
            self.merge(&places, &mut held, bit);
        }
        for bit in places.kept..places.bits.len() {
            self.keep_lesser(&places, &mut held, bit);
            self.merge(&places, &mut held, places.kept);
        }
        for register in 0..held.values.len() {
            held.values[register] = held.values[register & !(held.dropped as usize)];
        }
        self.convert(elem, &held.values, &places.layout_of(0..places.kept), &to)
    }

    /// Sorts runs, of places with this many bits, that rise and then fall or the other way round.
    fn merge(&mut self, places: &Places, held: &mut Held, bits: usize) {
        for bit in (0..bits).rev() {
            self.compare_and_exchange(places, held, places.bits[bit], places.bits[bit]);
        }
    }

    /// Of each two elements that are this way apart, the lesser goes to the place in which `decides` is not set.
    fn compare_and_exchange(&mut self, places: &Places, held: &mut Held, way: Way, decides: Way) {
        let dtype = held.dtype;
        if way.thread == 0 {
            for low in held.registers().filter(|register| register & decides.register == 0) {
                let (low, high) = (low as usize, (low ^ way.register) as usize);
                let pair = self.in_order(dtype, held.values[low], held.values[high]);
                [held.values[low], held.values[high]] = pair;
            }
            return;
        }
        let thread = self.e.thread();
        let set = self.e.and(Type::U32, thread, Val::Int(i64::from(decides.thread)));
        let upper = self.e.compare(Word::Ne, Type::S32, set, Val::Int(0));
        let others = self.of_others(places, held, way.thread);
        let ty = arithmetic(dtype);
        for register in held.registers() {
            let own = held.values[register as usize];
            let other = others[(register ^ way.register) as usize];
            // Of equal elements it does not matter which one stays.
            let less = self.e.compare(Word::Lt, ty, own, other);
            let keeps = self.e.xor(Type::Pred, less, upper);
            held.values[register as usize] = self.e.select(ty, keeps, own, other);
        }
    }

    /// Of each pair of sorted runs, which differ in one bit of their places, the lesser half of the elements stays.
    fn keep_lesser(&mut self, places: &Places, held: &mut Held, bit: usize) {
        let apart = places.bits[bit];
        let way = places.way(0..places.kept).and(apart);
        let others = self.of_others(places, held, way.thread);
        let registers = held.registers().filter(|register| register & apart.register == 0);
        let registers: Vec<u32> = registers.collect();
        let mut lesser = held.values.clone();
        for register in registers {
            let (own, other) = (register as usize, (register ^ way.register) as usize);
            lesser[own] = self.lesser(held.dtype, held.values[own], others[other]);
        }
        held.values = lesser;
        held.dropped |= apart.register;
    }

    /// What the threads hold whose index differs in these bits.
    fn of_others(&mut self, places: &Places, held: &Held, thread: u32) -> Vec<Val> {
        let elem = Elem::Number(held.dtype);
        if thread & !LANES == 0 {
            let mut others = held.values.clone();
            if thread != 0 {
                for register in held.registers() {
                    let value = held.values[register as usize];
                    others[register as usize] = self.e.butterfly(elem, value, thread);
                }
            }
            return others;
        }
        // What different threads have stays different, also if it will be the same after a merge.
        let bits =
            (0..places.bits.len()).filter(|&bit| places.bits[bit].register & held.dropped == 0);
        let layout = places.layout_of(bits);
        let mut values = held.values.clone();
        for (register, value) in values.iter_mut().enumerate() {
            *value = held.values[register & !(held.dropped as usize)];
        }
        self.of_other_warps(elem, &values, &layout, thread)
    }

    /// Two integers, the lesser first.
    fn in_order(&mut self, dtype: Dtype, a: Val, b: Val) -> [Val; 2] {
        let elem = Elem::Number(dtype);
        if dtype.bytes() < 8 {
            return [Binary::Min, Binary::Max].map(|op| self.e.binary(op, elem, elem, a, b));
        }
        // A comparison of 64 bits is two instructions, and both results share it.
        let ty = arithmetic(dtype);
        let less = self.e.compare(Word::Lt, ty, a, b);
        [self.e.select(ty, less, a, b), self.e.select(ty, less, b, a)]
    }

    fn lesser(&mut self, dtype: Dtype, a: Val, b: Val) -> Val {
        let elem = Elem::Number(dtype);
        self.e.binary(Binary::Min, elem, elem, a, b)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use kernel_layout::forms::blocked;
    use kernel_layout::{Dim, Layout};

    use super::Places;

    /// The places of the elements that a thread has in its registers.
    fn places(layout: &Layout, lane: u32, warp: u32) -> Vec<Vec<u32>> {
        let at = |register| {
            layout.apply(&[(Dim::Register, register), (Dim::Lane, lane), (Dim::Warp, warp)])
        };
        (0..layout.in_size(Dim::Register)).map(at).collect()
    }

    #[test]
    fn adjacent_places_are_in_the_registers_of_a_thread_then_in_its_neighbours() {
        let striped = blocked(&[1], &[32], &[2], &[0], &[256]).expect("a layout");
        let sorted = Places::new(&striped, 0, 256, 2);
        let layout = sorted.layout_of(0..8);
        assert_eq!(places(&layout, 0, 0), [[0], [1], [2], [3]]);
        assert_eq!(places(&layout, 5, 0), [[20], [21], [22], [23]]);
        assert_eq!(places(&layout, 0, 1), [[128], [129], [130], [131]]);
    }

    #[test]
    fn elements_that_stay_are_in_every_thread_of_those_that_had_the_others() {
        let rows = blocked(&[1, 4], &[4, 8], &[1, 2], &[1, 0], &[4, 64]).expect("a layout");
        let sorted = Places::new(&rows, 1, 8, 2);
        let layout = sorted.layout_of(0..sorted.kept);
        assert_eq!(layout.shape(), [4, 8]);
        let held = |lane, warp| places(&layout, lane, warp).into_iter().collect::<BTreeSet<_>>();
        // The low bit of the lane is the third bit of a place, and the others tell nothing any more.
        let low: BTreeSet<Vec<u32>> = (0..4).map(|place| vec![0, place]).collect();
        assert_eq!(held(0, 0), low);
        for (lane, warp) in [(2, 0), (4, 1), (6, 1)] {
            assert_eq!(held(lane, warp), low);
        }
        assert_eq!(held(1, 0), (4..8).map(|place| vec![0, place]).collect());
        assert_eq!(held(9, 0), (4..8).map(|place| vec![1, place]).collect());
    }
}
