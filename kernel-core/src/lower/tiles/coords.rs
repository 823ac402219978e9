//! Linear maps as code: what a thread's lane and warp contribute to a coordinate or an offset.

use kernel_layout::{Dim, Layout};
use kernel_ptx::{SpecialRegister, Type, Word};

use crate::lower::emitter::{Emitter, Val};

/// A linear function of the thread's index: the bases of its bits, lane bits first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ThreadMap {
    bases: Vec<u32>,
}

impl ThreadMap {
    /// A function from its bases, lowest bit of the thread's index first.
    pub(crate) fn new(bases: Vec<u32>) -> Self {
        ThreadMap { bases }
    }

    /// Coordinate `out` of a layout, times `scale`.
    pub(crate) fn of(layout: &Layout, out: usize, scale: u32) -> Self {
        let part = |dim| layout.bases(dim).iter().map(move |basis| basis[out] * scale);
        let mut bases: Vec<u32> = part(Dim::Lane).collect();
        bases.resize(5, 0);
        bases.extend(part(Dim::Warp));
        ThreadMap { bases }
    }

    /// The value for a thread.
    pub(crate) fn at(&self, thread: u32) -> u32 {
        let set = (0..).zip(&self.bases).filter(|(bit, _)| thread >> bit & 1 == 1);
        set.fold(0, |sum, (_, basis)| sum ^ basis)
    }

    /// The bits that may be set in a result.
    pub(crate) fn mask(&self) -> u32 {
        self.bases.iter().fold(0, |mask, basis| mask | basis)
    }
}

/// The constant that a register index contributes to coordinate `out`.
pub(crate) fn register_part(layout: &Layout, register: u32, out: usize) -> u32 {
    let bases = layout.bases(Dim::Register);
    bases
        .iter()
        .enumerate()
        .filter(|(bit, _)| register >> bit & 1 == 1)
        .fold(0, |sum, (_, basis)| sum ^ basis[out])
}

/// A coordinate or an offset: a value and a constant to add to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// The part that a thread computes.
    pub(crate) value: Val,
    /// The part that is known.
    pub(crate) constant: u32,
}

impl Emitter {
    /// The thread's index among those that run what is emitted.
    pub(crate) fn thread(&mut self) -> Val {
        let thread = self.special(SpecialRegister::TidX);
        match self.first_thread {
            0 => thread,
            first => self.sub(Type::U32, thread, Val::Int(i64::from(first))),
        }
    }

    /// The value of a linear function of the thread's index.
    ///
    /// Bits of the index that move by the same distance move together: one mask and one shift for each distance.
    pub(crate) fn thread_map(&mut self, map: &ThreadMap) -> Val {
        self.linear(&map.bases, self.threads - 1, Emitter::thread)
    }

    /// The value of a linear function, from its bases, of what `of` gives: a number that has no other bits than those of `all`.
    pub(crate) fn linear(
        &mut self,
        bases: &[u32],
        all: u32,
        mut of: impl FnMut(&mut Emitter) -> Val,
    ) -> Val {
        let mut moves: Vec<(i32, u32)> = Vec::new();
        for (bit, basis) in (0i32..).zip(bases) {
            for place in (0i32..32).filter(|place| basis >> place & 1 == 1) {
                let distance = place - bit;
                match moves.iter_mut().find(|(other, _)| *other == distance) {
                    Some((_, mask)) => *mask |= 1 << bit,
                    None => moves.push((distance, 1 << bit)),
                }
            }
        }
        moves.sort_unstable();
        let mut sum = Val::Int(0);
        let mut set = 0u32;
        for (distance, mask) in moves {
            let number = of(self);
            let (part, reach) = if distance < 0 {
                let by = distance.unsigned_abs();
                let part = if mask == all & !((1 << by) - 1) {
                    self.shr(Type::U32, number, by)
                } else {
                    let masked = self.and(Type::U32, number, Val::Int(i64::from(mask)));
                    self.shr(Type::U32, masked, by)
                };
                (part, mask >> by)
            } else {
                let by = distance.unsigned_abs();
                let masked = if mask == all {
                    number
                } else {
                    self.and(Type::U32, number, Val::Int(i64::from(mask)))
                };
                (self.shl(Type::U32, masked, by), mask << by)
            };
            sum = if set & reach == 0 {
                self.or(Type::U32, sum, part)
            } else {
                self.xor(Type::U32, sum, part)
            };
            set |= reach;
        }
        sum
    }

    /// A linear function of the thread's index and a constant: `map(thread) ^ constant`.
    ///
    /// Bits of the constant that no thread sets are kept apart, to be added where they cost nothing.
    pub(crate) fn position(&mut self, map: &ThreadMap, constant: u32) -> Position {
        let value = self.thread_map(map);
        let mask = map.mask();
        let value =
            self.xor(Type::U32, value, Val::Int(i64::from((constant & mask).cast_signed())));
        Position { value, constant: constant & !mask }
    }

    /// `map(thread) ^ constant ^ first`, where `first` is a value and the bits that it may have among those of the others.
    pub(crate) fn position_from(
        &mut self,
        map: &ThreadMap,
        constant: u32,
        (first, reach): (Val, u32),
    ) -> Position {
        if let Val::Int(first) = first {
            let first = u32::try_from(first).expect("an offset in shared memory is small");
            return self.position(map, constant ^ first);
        }
        let value = self.thread_map(map);
        let mask = map.mask() | reach;
        let known = Val::Int(i64::from((constant & mask).cast_signed()));
        let value = self.xor(Type::U32, value, known);
        let value = self.xor(Type::U32, value, first);
        Position { value, constant: constant & !mask }
    }

    /// A predicate that holds in one of the threads that differ in the bits of `free` only.
    pub(crate) fn first_of(&mut self, free: u32) -> Val {
        if free == 0 {
            return Val::Int(1);
        }
        let thread = self.thread();
        let bits = self.and(Type::U32, thread, Val::Int(i64::from(free)));
        self.compare(Word::Eq, Type::S32, bits, Val::Int(0))
    }
}

/// The bits of the thread's index that a layout repeats elements over.
pub(crate) fn repeated_threads(layout: &Layout, warps: u32) -> u32 {
    let lanes = layout.free_variable_mask(Dim::Lane);
    let missing = |bits: usize, all: u32| ((1u32 << all) - 1) & !((1u32 << bits) - 1);
    let lanes = lanes | missing(layout.bases(Dim::Lane).len(), 5);
    let warp_bits = warps.trailing_zeros();
    let warp_mask =
        layout.free_variable_mask(Dim::Warp) | missing(layout.bases(Dim::Warp).len(), warp_bits);
    lanes | warp_mask << 5
}
