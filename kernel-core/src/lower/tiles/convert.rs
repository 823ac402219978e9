//! From one register layout to another: by renaming, by shuffles, or through shared memory.

use std::collections::BTreeMap;
use std::fmt;

use kernel_layout::{Conversion, Dim, Exchange, Layout, accesses, bank_conflicts};
use kernel_ptx::{Instruction, Opcode, Operand, Space, Type, Word};

use super::coords::{ThreadMap, repeated_threads};
use super::scalar::held_in;
use crate::ir::Elem;
use crate::ir::dtype::Register;
use crate::lower::Lower;
use crate::lower::emitter::{Emitter, Val, mods};
use crate::lower::memory::access::bytes;
use crate::lower::memory::access_cost::SharedTrip;
use crate::lower::sync::barrier::ALL_LANES;

/// More shuffles than this cost more than a trip through shared memory.
const MOST_SHUFFLES: usize = 16;

/// The cost to a warp of converting a tile to another layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConversionCost {
    /// Nothing: every register has its element already.
    Free,
    /// Registers are renamed, which costs nothing either.
    Registers,
    /// Each thread has its elements, in registers that depend on the thread: `selp` chooses.
    Selected,
    /// This many shuffles.
    Shuffles(usize),
    /// A trip through shared memory, with a barrier.
    Shared(SharedTrip),
    /// A trip through the shared memory of other blocks.
    Cluster,
}

impl fmt::Display for ConversionCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConversionCost::Free => f.write_str("free"),
            ConversionCost::Registers => f.write_str("free, registers renamed"),
            ConversionCost::Selected => f.write_str("registers selected, no shuffle"),
            ConversionCost::Shuffles(count) => write!(f, "shuffle, {count} a warp"),
            ConversionCost::Shared(trip) => trip.fmt(f),
            ConversionCost::Cluster => f.write_str("shared memory of the cluster"),
        }
    }
}

/// What lowering does about a conversion of a tile.
pub(crate) fn conversion_cost(elem: Elem, from: &Layout, to: &Layout) -> ConversionCost {
    let through_shared = || ConversionCost::Shared(exchange_cost(elem, from, to));
    match Conversion::between(from, to) {
        Conversion::Trivial => ConversionCost::Free,
        Conversion::Registers(_) => ConversionCost::Registers,
        Conversion::Shuffle(positions) => match Shuffles::plan(&positions, elem) {
            Some(Shuffles { words: 0, .. }) => ConversionCost::Selected,
            Some(plan) => ConversionCost::Shuffles(plan.words),
            None => through_shared(),
        },
        Conversion::SharedMemory => through_shared(),
        Conversion::ClusterSharedMemory => ConversionCost::Cluster,
    }
}

/// What an exchange through shared memory costs.
pub(crate) fn exchange_cost(elem: Elem, from: &Layout, to: &Layout) -> SharedTrip {
    let size = bytes(elem);
    let exchange = Exchange::between(from, to, size);
    let extra = |registers: &Layout, vector: u32| {
        let count = accesses(registers, &exchange.shared, vector).len();
        u32::try_from(count).expect("a thread has few registers")
            * bank_conflicts(registers, &exchange.shared, size, vector)
    };
    let conflicts = extra(from, exchange.write_vector) + extra(to, exchange.read_vector);
    let bytes = exchange.shared.in_size(Dim::Offset) * size;
    SharedTrip { bytes, conflicts }
}

impl Lower<'_> {
    /// The elements of `values`, held in layout `from`, in layout `to`.
    pub(crate) fn convert(
        &mut self,
        elem: Elem,
        values: &[Val],
        from: &Layout,
        to: &Layout,
    ) -> Vec<Val> {
        if let Some(&first) = values.first()
            && !matches!(first, Val::Reg(_))
            && values.iter().all(|&value| value == first)
        {
            return vec![first; to.in_size(Dim::Register) as usize];
        }
        match Conversion::between(from, to) {
            Conversion::Trivial => return values.to_vec(),
            Conversion::Registers(sources) => {
                return sources.iter().map(|&source| values[source as usize]).collect();
            }
            Conversion::Shuffle(positions) => {
                if let Some(plan) = Shuffles::plan(&positions, elem) {
                    return self.shuffled(elem, values, &plan);
                }
            }
            Conversion::SharedMemory => {}
            Conversion::ClusterSharedMemory => {
                unreachable!("layouts::infer makes no tiles over several blocks")
            }
        }
        let size = bytes(elem);
        let exchange = Exchange::between(from, to, size);
        let scratch = self.scratch(exchange.shared.in_size(Dim::Offset) * size);
        let one = self.e.first_of(repeated_threads(from, self.crew.warps));
        self.write_exchange(&exchange, from, scratch, elem, values, one);
        self.barrier();
        let result = self.read_exchange(&exchange, to, scratch, elem);
        self.leave_scratch();
        result
    }

    /// Writes what threads hold in layout `from` to an exchange at `start`, in the threads for which `one` holds.
    pub(crate) fn write_exchange(
        &mut self,
        exchange: &Exchange,
        from: &Layout,
        start: u32,
        elem: Elem,
        values: &[Val],
        one: Val,
    ) {
        let size = bytes(elem);
        let map = offsets(from, &exchange.shared, size);
        for access in accesses(from, &exchange.shared, exchange.write_vector) {
            let vector: Vec<Val> =
                access.registers.iter().map(|slot| values[slot[0] as usize]).collect();
            let address = self.scratch_address(start, &map, access.offset * size);
            self.e.store(Space::Shared, elem, &vector, address, one);
        }
    }

    /// Reads an exchange at `start` into layout `to`.
    pub(crate) fn read_exchange(
        &mut self,
        exchange: &Exchange,
        to: &Layout,
        start: u32,
        elem: Elem,
    ) -> Vec<Val> {
        self.read_exchange_of(exchange, to, start, elem, 0)
    }

    /// The same as the threads read it whose index differs in the bits of `thread`.
    pub(crate) fn read_exchange_of(
        &mut self,
        exchange: &Exchange,
        to: &Layout,
        start: u32,
        elem: Elem,
        thread: u32,
    ) -> Vec<Val> {
        let size = bytes(elem);
        let map = offsets(to, &exchange.shared, size);
        let apart = map.at(thread);
        let mut result = vec![Val::Int(0); to.in_size(Dim::Register) as usize];
        for access in accesses(to, &exchange.shared, exchange.read_vector) {
            let address = self.scratch_address(start, &map, (access.offset * size) ^ apart);
            let loaded =
                self.e.load(Space::Shared, elem, exchange.read_vector, address, Val::Int(1), None);
            for (slot, value) in access.registers.iter().zip(loaded) {
                for &register in slot {
                    result[register as usize] = value;
                }
            }
        }
        result
    }

    /// The address `scratch + (map(thread) ^ offset)`, in bytes.
    pub(crate) fn scratch_address(
        &mut self,
        scratch: u32,
        map: &ThreadMap,
        offset: u32,
    ) -> Operand {
        let base = self.shared_base();
        let position = self.e.placed(crate::lower::Place::Outermost, |e| {
            let position = e.position(map, offset);
            let value = e.add(Type::U32, base, position.value);
            (value, position.constant)
        });
        self.e.at(position.0, i64::from(position.1) + i64::from(scratch))
    }

    fn shuffled(&mut self, elem: Elem, values: &[Val], plan: &Shuffles) -> Vec<Val> {
        // What is fetched from one lane goes in words: two halves share one.
        let mut fetched: BTreeMap<(u32, u32), Val> = BTreeMap::new();
        let half = matches!(elem, Elem::Number(dtype) if dtype.is_half());
        for (&constant, sources) in &plan.fetches {
            let lane = self.e.position(&plan.lanes, constant);
            let lane = self.e.or(Type::U32, lane.value, Val::Int(i64::from(lane.constant)));
            for chunk in sources.chunks(if half { 2 } else { 1 }) {
                let moved: Vec<Val> = if plan.is_local(constant) {
                    chunk.iter().map(|&source| values[source as usize]).collect()
                } else {
                    let chunk: Vec<Val> =
                        chunk.iter().map(|&source| values[source as usize]).collect();
                    self.e.fetch(elem, &chunk, lane)
                };
                for (&source, value) in chunk.iter().zip(moved) {
                    fetched.insert((constant, source), value);
                }
            }
        }
        plan.results
            .iter()
            .map(|&(constant, source)| self.chosen(elem, plan, &fetched, constant, source))
            .collect()
    }

    /// The value of a result register: which source it has may depend on the lane.
    fn chosen(
        &mut self,
        elem: Elem,
        plan: &Shuffles,
        fetched: &BTreeMap<(u32, u32), Val>,
        constant: u32,
        source: u32,
    ) -> Val {
        let mut choices: Vec<(u32, Val)> = plan
            .variants()
            .map(|variant| (variant, fetched[&(constant, source ^ variant)]))
            .collect();
        // The choice is made bit by bit: the thread's part of the source register selects.
        let part = self.e.thread_map(&plan.registers);
        let ty = match elem {
            Elem::Ptr(_) => Type::S64,
            Elem::Number(dtype) => super::scalar::arithmetic(dtype),
        };
        while choices.len() > 1 {
            let bit = choices.iter().fold(0, |mask, (variant, _)| mask | variant);
            let bit = 1u32 << bit.ilog2();
            let set = self.e.and(Type::U32, part, Val::Int(i64::from(bit)));
            let set = self.e.compare(Word::Ne, Type::S32, set, Val::Int(0));
            let (ones, zeros): (Vec<_>, Vec<_>) =
                choices.iter().partition(|(variant, _)| variant & bit != 0);
            choices = zeros
                .into_iter()
                .map(|(variant, zero)| {
                    let one = ones
                        .iter()
                        .find(|(other, _)| variant == other & !bit)
                        .map_or(zero, |(_, one)| *one);
                    (variant, self.e.select(ty, set, one, zero))
                })
                .collect();
        }
        choices[0].1
    }
}

/// The byte offset of each thread's part of a tile in shared memory.
pub(crate) fn offsets(registers: &Layout, shared: &Layout, size: u32) -> ThreadMap {
    let positions =
        registers.invert_and_compose(shared).expect("shared memory holds every element");
    ThreadMap::of(&positions, 0, size)
}

/// A conversion by shuffles.
struct Shuffles {
    /// The source lane, as a function of the lane.
    lanes: ThreadMap,
    /// The lane's part of the source register.
    registers: ThreadMap,
    /// The values that part takes.
    parts: Vec<u32>,
    /// For each constant part of the source lane, the source registers that are fetched from it.
    fetches: BTreeMap<u32, Vec<u32>>,
    /// For each result register: the constant part of the source lane, and of the source register.
    results: Vec<(u32, u32)>,
    own_lane: bool,
    /// The instructions.
    words: usize,
}

impl Shuffles {
    /// The shuffles, unless they are many.
    fn plan(positions: &Layout, elem: Elem) -> Option<Shuffles> {
        let out = |dim| {
            positions
                .out_dims()
                .position(|other| other == dim)
                .expect("positions name registers and lanes")
        };
        let (register, lane) = (out(Dim::Register), out(Dim::Lane));
        // If the source repeats its elements over warps, the place may depend on the warp too.
        let part = |out: usize| -> Vec<u32> {
            [Dim::Lane, Dim::Warp]
                .into_iter()
                .flat_map(|dim| positions.bases(dim))
                .map(|basis| basis[out])
                .collect()
        };
        let (lanes, choices) = (part(lane), part(register));
        let mut parts = vec![0u32];
        for &choice in choices.iter().filter(|&&choice| choice != 0) {
            if !parts.contains(&choice) {
                parts.extend(parts.clone().iter().map(|part| part ^ choice));
            }
        }
        // One bit for each choice keeps the selection simple.
        let simple = parts.iter().all(|part| {
            parts.len() == 1 << choices.iter().fold(0, |mask, choice| mask | choice).count_ones()
                || *part == 0
        });
        let own_lane =
            (0..).zip(&lanes).all(|(bit, &basis)| basis == if bit < 5 { 1 << bit } else { 0 });
        let mut results = Vec::new();
        let mut fetches: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for index in 0..positions.in_size(Dim::Register) {
            let position = positions.apply(&[(Dim::Register, index)]);
            let (constant, source) = (position[lane], position[register]);
            results.push((constant, source));
            let sources = fetches.entry(constant).or_default();
            for part in &parts {
                if !sources.contains(&(source ^ part)) {
                    sources.push(source ^ part);
                }
            }
        }
        let remote: usize = fetches
            .iter()
            .filter(|(constant, _)| !own_lane || **constant != 0)
            .map(|(_, sources)| sources.len())
            .sum();
        let words = match bytes(elem) {
            8 => remote * 2,
            2 => remote.div_ceil(2),
            _ => remote,
        };
        let plan = Shuffles {
            lanes: ThreadMap::new(lanes),
            registers: ThreadMap::new(choices),
            parts,
            fetches,
            results,
            own_lane,
            words,
        };
        (simple && words <= MOST_SHUFFLES).then_some(plan)
    }

    fn is_local(&self, constant: u32) -> bool {
        self.own_lane && constant == 0
    }

    fn variants(&self) -> impl Iterator<Item = u32> + '_ {
        self.parts.iter().copied()
    }
}

impl Emitter {
    /// Elements of another lane: one, or two halves.
    pub(crate) fn fetch(&mut self, elem: Elem, values: &[Val], lane: Val) -> Vec<Val> {
        self.exchange(elem, values, Word::Idx, lane)
    }

    /// Elements of the lane whose number differs in the bits of `mask`.
    pub(crate) fn butterfly(&mut self, elem: Elem, value: Val, mask: u32) -> Val {
        self.butterflies(elem, &[value], mask)[0]
    }

    /// The same of one element, or of two halves.
    pub(crate) fn butterflies(&mut self, elem: Elem, values: &[Val], mask: u32) -> Vec<Val> {
        self.exchange(elem, values, Word::Bfly, Val::Int(i64::from(mask)))
    }

    fn exchange(&mut self, elem: Elem, values: &[Val], mode: Word, lane: Val) -> Vec<Val> {
        match held_in(elem) {
            Register::Pred => {
                let number = self.select(Type::U32, values[0], Val::Int(1), Val::Int(0));
                let moved = self.shuffle(number, mode, lane, Type::B32);
                vec![self.compare(Word::Ne, Type::S32, moved, Val::Int(0))]
            }
            Register::B16 => {
                let word = self.pack(values[0], *values.get(1).unwrap_or(&values[0]));
                let moved = self.shuffle(word, mode, lane, Type::B32);
                self.unpack(moved)[..values.len()].to_vec()
            }
            register @ (Register::B64 | Register::F64) => {
                let ty = register.ty();
                let source = self.reg(values[0], ty);
                let (low, high) = (self.fresh(Type::B32), self.fresh(Type::B32));
                let halves = Operand::Vector(vec![Operand::Reg(low), Operand::Reg(high)]);
                self.push(
                    Instruction::new(Opcode::Mov, mods![Type::B64], [halves, Operand::Reg(source)]),
                    1,
                    false,
                );
                let moved = [low, high]
                    .map(|half| self.shuffle(Val::Reg(half), mode, lane, Type::B32).operand());
                let result = self.fresh(ty);
                self.push(
                    Instruction::new(
                        Opcode::Mov,
                        mods![Type::B64],
                        [Operand::Reg(result), Operand::Vector(moved.to_vec())],
                    ),
                    1,
                    false,
                );
                vec![Val::Reg(result)]
            }
            register @ (Register::B32 | Register::F32) => {
                vec![self.shuffle(values[0], mode, lane, register.ty())]
            }
        }
    }

    /// `shfl.sync` by the whole warp.
    pub(crate) fn shuffle(&mut self, value: Val, mode: Word, lane: Val, ty: Type) -> Val {
        let source = self.reg(value, ty);
        let result = self.fresh(ty);
        let operands = [
            Operand::Reg(result),
            Operand::Reg(source),
            lane.operand(),
            Operand::Int(31),
            ALL_LANES,
        ];
        self.push(
            Instruction::new(Opcode::Shfl, mods![Word::Sync, mode, Type::B32], operands),
            1,
            false,
        );
        Val::Reg(result)
    }
}
