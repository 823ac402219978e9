//! Value numbering: the register that holds what a pure instruction computes.

use std::collections::BTreeMap;

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
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    /// By the first two sources: few instructions have both in common, and the rest is compared one by one.
    known: BTreeMap<Sources, Vec<Known>>,
}

/// The bits of two sources, then what kinds of values they are: the numbers that differ most are compared first.
type Sources = (u64, u64, u8);

#[derive(Debug)]
struct Known {
    opcode: Opcode,
    modifiers: Vec<Modifier>,
    /// The sources after the first two.
    rest: Vec<Val>,
    result: u8,
    value: Val,
    /// How often registers had changed when it was computed.
    since: u32,
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

    fn is(&self, known: &Known) -> bool {
        known.opcode == self.opcode
            && known.result == self.result
            && known.rest == self.rest()
            && known.modifiers == self.modifiers
    }
}

impl Numbering {
    /// The value, and how often registers had changed when it was computed.
    pub(crate) fn find(&self, computed: &Computed<'_>) -> Option<(Val, u32)> {
        let known = self.known.get(&computed.first())?;
        let known = known.iter().find(|known| computed.is(known))?;
        Some((known.value, known.since))
    }

    /// Takes note of a value, in the place of one that was computed before registers changed.
    pub(crate) fn insert(&mut self, computed: &Computed<'_>, value: Val, since: u32) {
        let alike = self.known.entry(computed.first()).or_default();
        match alike.iter_mut().find(|known| computed.is(known)) {
            Some(known) => (known.value, known.since) = (value, since),
            None => alike.push(Known {
                opcode: computed.opcode,
                modifiers: computed.modifiers.to_vec(),
                rest: computed.rest().to_vec(),
                result: computed.result,
                value,
                since,
            }),
        }
    }

    /// Finds nothing any more.
    pub(crate) fn clear(&mut self) {
        self.known.clear();
    }
}
