//! Value numbering: the register that holds what a pure instruction computes.

use std::hash::{BuildHasherDefault, Hasher};

use kernel_ptx::{Modifier, Opcode};

use super::Val;

/// A pure instruction, or one of its results.
#[derive(Clone, Copy)]
pub(crate) struct Computed<'a> {
    pub(crate) opcode: Opcode,
    pub(crate) modifiers: &'a [Modifier],
    pub(crate) sources: &'a [Val],
    /// Distinguishes the results of one instruction, and what is not a value of the sources.
    pub(crate) result: u8,
}

/// What was computed.
///
/// Most instructions are looked up here, and kept. If each had lists of its own, to allocate them would take most of the time.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    /// By the first two sources, the last that was kept: few instructions have both in common, and the rest is compared one by one.
    last: Last,
    known: Vec<Known>,
    /// The modifiers of all of them, and the sources after the first two.
    modifiers: Vec<Modifier>,
    rest: Vec<Val>,
}

/// The bits of two sources, and what kinds of values they are.
type Sources = (u64, u64, u8);

#[expect(
    clippy::disallowed_types,
    reason = "it is only looked up, so that its order reaches nothing"
)]
type Last = std::collections::HashMap<Sources, usize, BuildHasherDefault<Mixed>>;

#[derive(Debug)]
struct Known {
    opcode: Opcode,
    /// Where its modifiers and its further sources begin and end.
    modifiers: (usize, usize),
    rest: (usize, usize),
    result: u8,
    value: Val,
    /// How often registers had changed when it was computed.
    since: u32,
    /// The one before with the same first two sources.
    before: Option<usize>,
}

/// Mixes numbers by multiplication: nobody chooses registers so that they collide.
#[derive(Debug, Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        // 2^64 divided by the golden ratio, made odd.
        self.0 = (self.0.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

impl Computed<'_> {
    fn first(&self) -> Sources {
        let parts = |at: usize| match self.sources.get(at) {
            None => (0, 0),
            Some(Val::Reg(reg)) => (u64::from(reg.0), 1),
            Some(Val::Int(value)) => (value.cast_unsigned(), 2),
            Some(Val::F32(bits)) => (u64::from(*bits), 3),
            Some(Val::F64(bits)) => (*bits, 4),
        };
        let ((first, first_kind), (second, second_kind)) = (parts(0), parts(1));
        (first, second, first_kind << 4 | second_kind)
    }

    fn rest(&self) -> &[Val] {
        self.sources.get(2..).unwrap_or(&[])
    }
}

impl Numbering {
    /// The value, and how often registers had changed when it was computed.
    pub(crate) fn find(&self, computed: &Computed<'_>) -> Option<(Val, u32)> {
        let known = &self.known[self.position(computed).1?];
        Some((known.value, known.since))
    }

    /// Takes note of a value, in the place of one that was computed before registers changed.
    pub(crate) fn insert(&mut self, computed: &Computed<'_>, value: Val, since: u32) {
        let (before, position) = self.position(computed);
        if let Some(at) = position {
            let known = &mut self.known[at];
            (known.value, known.since) = (value, since);
            return;
        }
        let (modifiers, rest) = (self.modifiers.len(), self.rest.len());
        self.modifiers.extend_from_slice(computed.modifiers);
        self.rest.extend_from_slice(computed.rest());
        self.last.insert(computed.first(), self.known.len());
        self.known.push(Known {
            opcode: computed.opcode,
            modifiers: (modifiers, self.modifiers.len()),
            rest: (rest, self.rest.len()),
            result: computed.result,
            value,
            since,
            before,
        });
    }

    /// The last that has the first two sources, and the one that is the same.
    fn position(&self, computed: &Computed<'_>) -> (Option<usize>, Option<usize>) {
        let last = self.last.get(&computed.first()).copied();
        let mut at = last;
        while let Some(known) = at.map(|at| &self.known[at]) {
            if self.is(known, computed) {
                break;
            }
            at = known.before;
        }
        (last, at)
    }

    fn is(&self, known: &Known, computed: &Computed<'_>) -> bool {
        known.opcode == computed.opcode
            && known.result == computed.result
            && &self.rest[known.rest.0..known.rest.1] == computed.rest()
            && &self.modifiers[known.modifiers.0..known.modifiers.1] == computed.modifiers
    }

    /// Finds nothing any more.
    pub(crate) fn clear(&mut self) {
        let Numbering { last, known, modifiers, rest } = self;
        last.clear();
        known.clear();
        modifiers.clear();
        rest.clear();
    }
}
