//! Scans: runs of one element are joined to runs of two, of four, and so on, each step by the bit of the position that it decides.
//!
//! The tree is that of [`ir::scan_source`](crate::ir::scan_source) whatever the layout, so that floats come out the same in each.
//! What a step combines before an element is the last element of the run before its own: in a register of the same thread,
//! in another lane, or in another warp. Backward, positions count from the end of the axis: their bits are the complements.
//!
//! An exclusive scan has for each element, beside what its run has up to it, what the run has before it. That is nothing for the
//! first element of a run.

use std::collections::{BTreeMap, BTreeSet};

use kernel_layout::forms::blocked_for;
use kernel_layout::{Dim, Layout};
use kernel_ptx::{Space, Type, Word};

use super::coords::{ThreadMap, register_part, repeated_threads};
use super::crossing::extra_passes;
use super::reduce::separates;
use crate::ir::{Direction, Elem, Region, Value};
use crate::lower::Data;
use crate::lower::Lower;
use crate::lower::emitter::Val;
use crate::lower::memory::access::bytes;
use crate::lower::memory::access_cost::SharedTrip;

/// Lane bits of the thread's index.
const LANES: u32 = 31;

/// A scan of tiles in one layout.
struct Scan<'a> {
    runs: Runs,
    combine: &'a Region,
    elems: Vec<Elem>,
}

/// The runs of a scan, and where their ends are.
struct Runs {
    layout: Layout,
    axis: usize,
    direction: Direction,
    /// For each bit of the position along the axis: the bit of the register's index that walks it, or that of the thread's.
    owners: Vec<Owner>,
}

/// What decides a bit of the position along the axis.
#[derive(Clone, Copy)]
enum Owner {
    /// A bit of the register's index, as a mask.
    Register(u32),
    /// A bit of the thread's index, as a mask.
    Thread(u32),
}

impl Owner {
    fn register(self) -> u32 {
        match self {
            Owner::Register(mask) => mask,
            Owner::Thread(_) => 0,
        }
    }

    fn thread(self) -> u32 {
        match self {
            Owner::Register(_) => 0,
            Owner::Thread(mask) => mask,
        }
    }
}

impl Runs {
    /// The runs of a tile in a layout, or in another one if bits of the index walk the axis and another axis at once.
    fn new(layout: &Layout, (axis, direction): (usize, Direction), warps: u32) -> Runs {
        let mut layout = layout.remove_zero_bases(Dim::Register);
        if !separates(&layout, axis) {
            let order: Vec<u32> = (0u32..).take(layout.shape().len()).collect();
            layout = blocked_for(&layout.shape(), &order, 1, warps);
        }
        let owners = owners(&layout, axis);
        Runs { layout, axis, direction, owners }
    }

    /// Whether what a step takes comes from other warps.
    fn crosses_warps(&self, step: usize) -> bool {
        let (_, within) = self.within(step);
        (within | self.owners[step].thread()) & !LANES != 0
    }

    /// The bytes of shared memory that a step takes if it crosses warps, and where each operand's begin.
    fn scratch(places: &Places, elems: &[Elem]) -> (Vec<u32>, u32) {
        let mut starts = Vec::new();
        let mut bytes_so_far = 0;
        for &elem in elems {
            starts.push(bytes_so_far);
            bytes_so_far += (places.count() * bytes(elem)).next_multiple_of(16);
        }
        (starts, bytes_so_far)
    }

    /// Which threads write the ends of first runs: those whose index has these bits where the mask has any.
    fn writers(&self, step: usize, warps: u32) -> (u32, u32) {
        let (_, within) = self.within(step);
        let bit = self.owners[step].thread();
        (within | bit | repeated_threads(&self.layout, warps), self.last_of_first(within, bit))
    }

    /// The bits of an index that are set for the last element of a first run: `within` are those that decide the position in a
    /// run, `bit` is the one that tells a first run from a second one.
    fn last_of_first(&self, within: u32, bit: u32) -> u32 {
        match self.direction {
            Direction::Forward => within,
            Direction::Backward => bit,
        }
    }

    /// The bits of an index that are set for the first element of a run, of those that decide the position in it.
    fn first(&self, within: u32) -> u32 {
        match self.direction {
            Direction::Forward => 0,
            Direction::Backward => within,
        }
    }

    /// The bits of the register's and of the thread's index that decide the position within runs of step `step`.
    fn within(&self, step: usize) -> (u32, u32) {
        self.owners[..step].iter().fold((0, 0), |(registers, threads), owner| {
            (registers | owner.register(), threads | owner.thread())
        })
    }

    /// The registers that a step changes, in some threads at least, and where the last element before their run is.
    fn changes(&self, step: usize) -> Vec<(u32, u32)> {
        let (low, _) = self.within(step);
        let bit = self.owners[step].register();
        let last = self.last_of_first(low, bit);
        (0..self.layout.in_size(Dim::Register))
            .filter(|register| register & bit != last & bit || bit == 0)
            .map(|register| (register, (register & !(low | bit)) | last))
            .collect()
    }

    /// Where the pairs of runs of a step are in shared memory.
    fn places(&self, step: usize) -> Places {
        let mut places = Places {
            shape: self.layout.shape(),
            axis: self.axis,
            shift: step + 1,
            order: Vec::new(),
        };
        let bits = places.count().trailing_zeros();
        let of_lanes = self.layout.bases(Dim::Lane).iter().map(|basis| places.row_major(basis));
        let mut order: Vec<u32> = Vec::new();
        for bit in of_lanes.filter(|index| index.is_power_of_two()).map(u32::trailing_zeros) {
            if !order.contains(&bit) {
                order.push(bit);
            }
        }
        order.extend((0..bits).filter(|bit| !order.contains(bit)).collect::<Vec<_>>());
        places.order = order;
        places
    }
}

/// Where the last elements of runs are in shared memory, one for each pair of runs: those of a warp's lanes contiguous, so that
/// its lanes meet in no bank.
struct Places {
    shape: Vec<u32>,
    axis: usize,
    /// Positions along the axis that belong to one pair: as a power of two.
    shift: usize,
    /// The bits of a pair's index in row-major order, the one first that is lowest in shared memory.
    order: Vec<u32>,
}

impl Places {
    fn count(&self) -> u32 {
        self.shape.iter().product::<u32>() >> self.shift
    }

    /// The index, in row-major order, of the pair in which a basis or a place is.
    fn row_major(&self, place: &[u32]) -> u32 {
        place.iter().zip(&self.shape).enumerate().fold(0, |index, (axis, (&at, extent))| {
            let by = if axis == self.axis { self.shift } else { 0 };
            index * (extent >> by) + (at >> by)
        })
    }

    /// The index in shared memory of the same, in elements.
    fn of(&self, place: &[u32]) -> u32 {
        let index = self.row_major(place);
        let bits = self.order.iter().enumerate();
        bits.fold(0, |at, (to, from)| at | (index >> from & 1) << to)
    }
}

impl Lower<'_> {
    /// Scans one axis of tiles.
    pub(crate) fn scan(
        &mut self,
        args: &[Value],
        along: (usize, Direction),
        initial: &[Value],
        combine: &Region,
        results: &[Value],
    ) {
        let runs = Runs::new(self.layout(args[0]), along, self.crew.warps);
        let elems: Vec<Elem> = args.iter().map(|&arg| self.elem(arg)).collect();
        let mut held: Vec<Vec<Val>> = Vec::new();
        for (&arg, &elem) in args.iter().zip(&elems) {
            let (values, from) = (self.tile(arg).to_vec(), self.layout(arg).clone());
            held.push(self.convert(elem, &values, &from, &runs.layout));
        }
        let scan = Scan { runs, combine, elems };
        // In the place of nothing stands any value, which no result depends on.
        let mut before = if initial.is_empty() { None } else { Some(held.clone()) };
        for step in 0..scan.runs.owners.len() {
            self.scan_step(&scan, step, &mut held, before.as_mut());
        }
        if let Some(before) = before {
            let initial: Vec<Val> = initial.iter().map(|&value| self.scalar(value)).collect();
            held = self.begun_with(&scan, &initial, &before);
        }
        for ((&result, values), &elem) in results.iter().zip(held).zip(&scan.elems) {
            let to = self.layout(result).clone();
            let values = self.convert(elem, &values, &scan.runs.layout, &to);
            self.values.insert(result, Data::Tile(values));
        }
    }

    /// Joins neighbouring runs.
    fn scan_step(
        &mut self,
        scan: &Scan<'_>,
        step: usize,
        held: &mut [Vec<Val>],
        mut before: Option<&mut Vec<Vec<Val>>>,
    ) {
        let changes = scan.runs.changes(step);
        let (_, within) = scan.runs.within(step);
        let bit = scan.runs.owners[step].thread();
        let sources = if scan.runs.crosses_warps(step) {
            self.take_from_warps(scan, step, held)
        } else if within | bit != 0 {
            self.take_from_lanes(scan, step, held)
        } else {
            let sources = changes.iter().map(|(_, source)| *source);
            let value = |source: u32| held.iter().map(|values| values[source as usize]).collect();
            sources.map(|source| (source, value(source))).collect()
        };
        // Only the threads of the second run change what they hold.
        let second = if bit == 0 {
            Val::Int(1)
        } else {
            let thread = self.e.thread();
            let set = self.e.and(Type::U32, thread, Val::Int(i64::from(bit)));
            let word = match scan.runs.direction {
                Direction::Forward => Word::Ne,
                Direction::Backward => Word::Eq,
            };
            self.e.compare(word, Type::S32, set, Val::Int(0))
        };
        for (register, source) in changes {
            let (at, source) = (register as usize, &sources[&source]);
            let own: Vec<Val> = held.iter().map(|values| values[at]).collect();
            let joined = self.combined(scan.combine, source, &own);
            let joined = self.each_chosen(&scan.elems, second, &joined, &own);
            for (values, joined) in held.iter_mut().zip(joined) {
                values[at] = joined;
            }
            if let Some(before) = &mut before {
                let own: Vec<Val> = before.iter().map(|values| values[at]).collect();
                let joined = self.prefixed(scan, scan.runs.within(step), register, source, &own);
                let joined = self.each_chosen(&scan.elems, second, &joined, &own);
                for (values, joined) in before.iter_mut().zip(joined) {
                    values[at] = joined;
                }
            }
        }
    }

    /// What is before an element once `first` is put before its run: `first` alone for the first element of the run, else `first`
    /// combined with what the run has before the element.
    ///
    /// `registers` and `threads` are the bits of the register's and of the thread's index that decide the position in the run.
    fn prefixed(
        &mut self,
        scan: &Scan<'_>,
        (registers, threads): (u32, u32),
        register: u32,
        first: &[Val],
        before: &[Val],
    ) -> Vec<Val> {
        if register & registers != scan.runs.first(registers) {
            return self.combined(scan.combine, first, before);
        }
        if threads == 0 {
            return first.to_vec();
        }
        let joined = self.combined(scan.combine, first, before);
        let thread = self.e.thread();
        let place = self.e.and(Type::U32, thread, Val::Int(i64::from(threads)));
        let start = Val::Int(i64::from(scan.runs.first(threads)));
        let starts = self.e.compare(Word::Eq, Type::S32, place, start);
        self.each_chosen(&scan.elems, starts, first, &joined)
    }

    /// The results of an exclusive scan, by what is before each element.
    fn begun_with(
        &mut self,
        scan: &Scan<'_>,
        initial: &[Val],
        before: &[Vec<Val>],
    ) -> Vec<Vec<Val>> {
        let within = scan.runs.within(scan.runs.owners.len());
        let mut results: Vec<Vec<Val>> = vec![Vec::new(); before.len()];
        for register in 0..scan.runs.layout.in_size(Dim::Register) {
            let own: Vec<Val> = before.iter().map(|values| values[register as usize]).collect();
            let values = self.prefixed(scan, within, register, initial, &own);
            for (results, value) in results.iter_mut().zip(values) {
                results.push(value);
            }
        }
        results
    }

    /// For each operand one of two values, by a condition.
    fn each_chosen(&mut self, elems: &[Elem], condition: Val, a: &[Val], b: &[Val]) -> Vec<Val> {
        let mut chosen = Vec::new();
        for ((&elem, &a), &b) in elems.iter().zip(a).zip(b) {
            let ty = match elem {
                Elem::Ptr(_) => Type::S64,
                Elem::Number(dtype) => super::scalar::arithmetic(dtype),
            };
            chosen.push(self.e.select(ty, condition, a, b));
        }
        chosen
    }

    /// The last elements of the first runs, of other lanes.
    fn take_from_lanes(
        &mut self,
        scan: &Scan<'_>,
        step: usize,
        held: &[Vec<Val>],
    ) -> BTreeMap<u32, Vec<Val>> {
        let (_, within) = scan.runs.within(step);
        let bit = scan.runs.owners[step].thread();
        let thread = self.e.thread();
        let last = scan.runs.last_of_first(within, bit);
        let lane = self.e.and(
            Type::U32,
            thread,
            Val::Int(i64::from(LANES & !(within | bit) | within & last)),
        );
        let lane = self.e.or(Type::U32, lane, Val::Int(i64::from(last)));
        let mut sources = BTreeMap::new();
        for (_, source) in scan.runs.changes(step) {
            if sources.contains_key(&source) {
                continue;
            }
            let mut values = Vec::new();
            for (held, &elem) in held.iter().zip(&scan.elems) {
                values.extend(self.e.fetch(elem, &[held[source as usize]], lane));
            }
            sources.insert(source, values);
        }
        sources
    }

    /// The last elements of the first runs, through shared memory.
    fn take_from_warps(
        &mut self,
        scan: &Scan<'_>,
        step: usize,
        held: &[Vec<Val>],
    ) -> BTreeMap<u32, Vec<Val>> {
        let layout = &scan.runs.layout;
        let places = scan.runs.places(step);
        let (starts, scratch_bytes) = Runs::scratch(&places, &scan.elems);
        let scratch = self.scratch(scratch_bytes);
        // One thread writes the last element of each first run.
        let (decides, last) = scan.runs.writers(step, self.crew.warps);
        let thread = self.e.thread();
        let set = self.e.and(Type::U32, thread, Val::Int(i64::from(decides)));
        let last = self.e.compare(Word::Eq, Type::S32, set, Val::Int(i64::from(last)));
        let mut addresses: BTreeMap<u32, Vec<_>> = BTreeMap::new();
        for (_, source) in scan.runs.changes(step) {
            if addresses.contains_key(&source) {
                continue;
            }
            let place = places.of(&layout.apply(&[(Dim::Register, source)]));
            let mut of_source = Vec::new();
            for (index, &elem) in scan.elems.iter().enumerate() {
                let size = bytes(elem);
                let part = |dim| layout.bases(dim).iter().map(|basis| places.of(basis) * size);
                let mut bases: Vec<u32> = part(Dim::Lane).collect();
                bases.resize(5, 0);
                bases.extend(part(Dim::Warp));
                let start = scratch + starts[index];
                let address = self.scratch_address(start, &ThreadMap::new(bases), place * size);
                let value = held[index][source as usize];
                self.e.store(Space::Shared, elem, &[value], address.clone(), last);
                of_source.push(address);
            }
            addresses.insert(source, of_source);
        }
        self.barrier();
        let mut sources = BTreeMap::new();
        for (source, of_source) in addresses {
            let mut values = Vec::new();
            for (address, &elem) in of_source.into_iter().zip(&scan.elems) {
                values.extend(self.e.load(Space::Shared, elem, 1, address, Val::Int(1), None));
            }
            sources.insert(source, values);
        }
        self.leave_scratch();
        sources
    }
}

/// What a scan passes through shared memory: the most bytes of a step, and the bank conflicts of all of them; none if no step
/// crosses warps.
pub(crate) fn through_shared(
    elems: &[Elem],
    layout: &Layout,
    along: (usize, Direction),
    warps: u32,
) -> Option<SharedTrip> {
    let runs = Runs::new(layout, along, warps);
    let steps = (0..runs.owners.len()).filter(|&step| runs.crosses_warps(step));
    let costs = steps.map(|step| {
        let places = runs.places(step);
        let (decides, last) = runs.writers(step, warps);
        let sources: BTreeSet<u32> =
            runs.changes(step).into_iter().map(|(_, source)| source).collect();
        let sources = u32::try_from(sources.len()).expect("a thread has few registers");
        let mut conflicts = 0;
        for &elem in elems {
            let size = bytes(elem);
            let lanes: Vec<u32> =
                runs.layout.bases(Dim::Lane).iter().map(|basis| places.of(basis) * size).collect();
            // Of the warp that writes most: its own bits may be those that decide.
            let writes = |lane: u32| (lane & decides & LANES) == (last & LANES);
            conflicts += sources
                * (extra_passes(&lanes, size, writes) + extra_passes(&lanes, size, |_| true));
        }
        (Runs::scratch(&places, elems).1, conflicts)
    });
    let whole = costs.reduce(|(bytes, all), (more, conflicts)| (bytes.max(more), all + conflicts));
    whole.map(|(bytes, conflicts)| SharedTrip { bytes, conflicts })
}

/// What decides each bit of the position along an axis, in a layout that separates it.
fn owners(layout: &Layout, axis: usize) -> Vec<Owner> {
    let bits = layout.shape()[axis].trailing_zeros();
    let find = |bit: u32| {
        let register = (0..layout.bases(Dim::Register).len())
            .map(|index| 1u32 << index)
            .find(|&register| register_part(layout, register, axis) == 1 << bit);
        if let Some(register) = register {
            return Owner::Register(register);
        }
        let walks = |dim| layout.bases(dim).iter().position(|basis| basis[axis] == 1 << bit);
        let lane = walks(Dim::Lane).map(|index| 1 << index);
        let warp = || walks(Dim::Warp).map(|index| 32 << index);
        Owner::Thread(lane.or_else(warp).expect("a layout reaches every position"))
    };
    (0..bits).map(find).collect()
}
