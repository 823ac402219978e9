//! Elements of a tile at indices along an axis: by shuffles if the lanes of each warp hold whole lines, otherwise through shared memory.

use kernel_layout::forms::row_major_shared;
use kernel_layout::{Dim, Exchange, Layout, max_vector};
use kernel_ptx::{Space, Type, Word};

use super::coords::{ThreadMap, repeated_threads};
use super::reduce::{separates, warps_along};
use super::scalar::{arithmetic, zero};
use crate::ir::{Elem, Value};
use crate::lower::Lower;
use crate::lower::emitter::{Emitter, Place, Val};
use crate::lower::memory::access::{VECTOR_BYTES, bytes};
use crate::lower::memory::tensor::{repeat, repeated_registers};

/// Lane bits of the thread's index.
const LANES: u32 = 31;
/// The most registers with elements of one line among which a thread chooses after shuffles: more are cheaper through shared memory.
const MOST_CHOICES: u32 = 4;

/// How lanes find elements by shuffles.
struct Shuffles {
    /// For each bit of an index, the bit of the lane's number that it is.
    lanes: Vec<u32>,
    /// The bits of a lane's number that an index decides.
    decided: u32,
    /// The bits of an index that decide the register.
    chosen: Vec<u32>,
    /// For each register of the result, the registers of its line: one for each value of the bits that decide it.
    sources: Vec<Vec<u32>>,
}

impl Shuffles {
    /// How elements held in `from` come to `to`, if shuffles get them there.
    fn plan(from: &Layout, to: &Layout, axis: usize) -> Option<Shuffles> {
        if !separates(from, axis) || !warps_along(from, axis).is_empty() {
            return None;
        }
        let mut lanes = vec![0; from.shape()[axis].trailing_zeros() as usize];
        let mut decided = 0;
        for (basis, bit) in from.bases(Dim::Lane).iter().zip(0u32..) {
            if basis[axis] != 0 {
                lanes[basis[axis].trailing_zeros() as usize] = 1 << bit;
                decided |= 1 << bit;
            }
        }
        // The bits of a register's index that walk the line, in the order of what they walk.
        let mut along: Vec<(u32, u32)> = (0u32..)
            .zip(from.bases(Dim::Register))
            .filter(|(_, basis)| basis[axis] != 0)
            .map(|(bit, basis)| (basis[axis], 1 << bit))
            .collect();
        along.sort_unstable();
        if 1 << along.len() > MOST_CHOICES {
            return None;
        }
        // The lane that has the line of an element is the one that asks for it, but for the bits that the index decides.
        let (lines, wanted) = (from.collapse_axis(axis), to.collapse_axis(axis));
        let same = |dim: Dim, decided: u32| {
            let count = lines.bases(dim).len().max(wanted.bases(dim).len());
            (0..count).all(|bit| {
                let none = vec![0; lines.outs().len()];
                let line = lines.bases(dim).get(bit).unwrap_or(&none);
                let asked = wanted.bases(dim).get(bit).unwrap_or(&none);
                if decided >> bit & 1 == 1 { *asked == none } else { line == asked }
            })
        };
        if !same(Dim::Lane, decided) || !same(Dim::Warp, 0) {
            return None;
        }
        let walks = along.iter().fold(0, |all, (_, register)| all | register);
        let mut sources = Vec::new();
        for register in 0..wanted.in_size(Dim::Register) {
            let line = wanted.apply(&[(Dim::Register, register)]);
            let source = (0..lines.in_size(Dim::Register)).find(|source| {
                source & walks == 0 && lines.apply(&[(Dim::Register, *source)]) == line
            })?;
            let choices = (0..1u32 << along.len()).map(|choice| {
                let set = (0..).zip(&along).filter(|(bit, _)| choice >> bit & 1 == 1);
                set.fold(source, |all, (_, (_, register))| all | register)
            });
            sources.push(choices.collect());
        }
        let chosen = along.iter().map(|(position, _)| *position).collect();
        Some(Shuffles { lanes, decided, chosen, sources })
    }
}

impl Lower<'_> {
    /// The elements of operand 0 along an axis at the indices in operand 1, which has the layout of the result; zero outside.
    pub(crate) fn gather(&mut self, axis: usize, args: &[Value], result: Value) -> Vec<Val> {
        let (held, elem) = (self.layout(args[0]).clone(), self.elem(args[0]));
        let (from, to) = (held.remove_zero_bases(Dim::Register), self.layout(result).clone());
        let values = self.tile(args[0]).to_vec();
        let values = self.convert(elem, &values, &held, &from);
        let extent = from.shape()[axis];
        let proven = self.facts.proves_index(args[1], extent);
        let repeated = repeated_registers(&to);
        let mut asked = Vec::new();
        for register in (0..to.in_size(Dim::Register)).filter(|one| one & repeated == 0) {
            let index = self.register(args[1], register);
            // Below zero counts as huge.
            let inside = if proven {
                Val::Int(1)
            } else {
                self.e.compare(Word::Lt, Type::U32, index, Val::Int(i64::from(extent)))
            };
            asked.push(Asked { register, index, inside });
        }
        let mut found = vec![zero(elem); to.in_size(Dim::Register) as usize];
        if let Some(plan) = Shuffles::plan(&from, &to, axis) {
            let bits = if proven { extent - 1 } else { u32::MAX };
            for Asked { register, index, inside } in asked {
                let value = self.of_lane(&plan, (elem, &values), register, (index, bits));
                found[register as usize] = self.e.select(chosen(elem), inside, value, zero(elem));
            }
        } else {
            self.through_shared(axis, (elem, &values, &from), (&asked, &to), &mut found);
        }
        repeat(&mut found, repeated);
        found
    }

    /// The element at an index of the line of which a thread has register `register`. The index has no other bits than `bits`.
    fn of_lane(
        &mut self,
        plan: &Shuffles,
        (elem, values): (Elem, &[Val]),
        register: u32,
        (index, bits): (Val, u32),
    ) -> Val {
        let decided = self.e.linear(&plan.lanes, bits, |_: &mut Emitter| index);
        let thread = self.e.thread();
        let kept = self.e.and(Type::U32, thread, Val::Int(i64::from(LANES & !plan.decided)));
        let lane = self.e.or(Type::U32, kept, decided);
        let mut choices = Vec::new();
        for &source in &plan.sources[register as usize] {
            let value = values[source as usize];
            let alone = plan.decided == 0;
            choices.push(if alone { value } else { self.e.fetch(elem, &[value], lane)[0] });
        }
        for &position in &plan.chosen {
            let set = self.e.and(Type::U32, index, Val::Int(i64::from(position)));
            let set = self.e.compare(Word::Ne, Type::S32, set, Val::Int(0));
            let pairs = choices.chunks(2).map(|pair| [pair[0], pair[1]]);
            choices =
                pairs.map(|[zero, one]| self.e.select(chosen(elem), set, one, zero)).collect();
        }
        choices[0]
    }

    /// The same through shared memory, which has the tile in row-major order.
    fn through_shared(
        &mut self,
        axis: usize,
        (elem, values, from): (Elem, &[Val], &Layout),
        (asked, to): (&[Asked], &Layout),
        found: &mut [Val],
    ) {
        let (size, extents) = (bytes(elem), from.shape());
        let shared = row_major_shared(&extents).expect("extents are powers of two");
        let scratch = self.scratch(shared.in_size(Dim::Offset) * size);
        let one = self.e.first_of(repeated_threads(from, self.crew.warps));
        let write_vector = max_vector(from, &shared).min(VECTOR_BYTES / size).max(1);
        let exchange = Exchange { shared, write_vector, read_vector: 1, wavefronts: 0 };
        self.write_exchange(&exchange, from, scratch, elem, values, one);
        self.barrier();
        // An element is at the start of its line and as many steps further as its index says.
        let lines = to.collapse_axis(axis);
        let start = |place: &[u32]| {
            let places = place.iter().zip(&extents);
            places.fold(0, |at, (place, extent)| at * extent + place) * size
        };
        let part = |dim| lines.bases(dim).iter().map(|basis| start(basis));
        let mut bases: Vec<u32> = part(Dim::Lane).collect();
        bases.resize(LANES.count_ones() as usize, 0);
        bases.extend(part(Dim::Warp));
        let map = ThreadMap::new(bases);
        let step = extents[axis + 1..].iter().product::<u32>() * size;
        let base = self.shared_base();
        for &Asked { register, index, inside } in asked {
            let place = start(&lines.apply(&[(Dim::Register, register)]));
            let (address, constant) = self.e.placed(Place::Outermost, |e| {
                let line = e.position(&map, place);
                let address = e.add(Type::U32, base, line.value);
                let steps = e.shl(Type::U32, index, step.trailing_zeros());
                (e.add(Type::U32, address, steps), line.constant)
            });
            let address = self.e.at(address, i64::from(constant) + i64::from(scratch));
            found[register as usize] =
                self.e.load(Space::Shared, elem, 1, address, inside, None)[0];
        }
        self.leave_scratch();
    }
}

/// An element that each thread asks for.
struct Asked {
    /// The register of the result.
    register: u32,
    index: Val,
    /// Whether there is such an element.
    inside: Val,
}

/// The type in which elements are selected.
fn chosen(elem: Elem) -> Type {
    match elem {
        Elem::Ptr(_) => Type::S64,
        Elem::Number(dtype) => arithmetic(dtype),
    }
}
