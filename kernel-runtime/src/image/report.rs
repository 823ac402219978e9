//! What a kernel says while it runs: prints, assertions that fail, and stamps.

use super::Image;
use crate::Element;
use std::fmt;

/// What a kernel says, and how its PTX divides the memory for that: two counters of 64 bits, of prints and of failed
/// assertions, then the slots of both.
///
/// A slot begins with 24 bytes: the number of the [`ReportText`] plus 1, or 0 as long as the slot is not complete; the element of a
/// tile, in row-major order; the block along x, y and z; the thread. The values follow, 8 bytes apart.
#[derive(Clone, Copy, Debug)]
pub struct Reports {
    /// Bytes of a slot.
    pub slot_bytes: u32,
    /// Slots for prints.
    pub prints: u32,
    /// Slots for failed assertions, after those.
    pub assertions: u32,
    /// What is said, by its number.
    pub all: &'static [ReportText],
}

/// A print or an assertion.
#[derive(Clone, Copy)]
pub struct ReportText {
    /// The condition of an assertion; `None` for a print.
    pub condition: Option<&'static str>,
    /// The place in the source, such as `src/kernel.rs:12:5`.
    pub place: &'static str,
    /// The shape of the tiles whose elements are said; empty without any.
    pub shape: &'static [u32],
    /// Writes the text.
    pub write: fn(&Values<'_>, &mut dyn fmt::Write) -> fmt::Result,
}

impl fmt::Debug for ReportText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { condition, place, shape, write: _ } = self;
        f.debug_struct("ReportText")
            .field("condition", condition)
            .field("place", place)
            .field("shape", shape)
            .finish_non_exhaustive()
    }
}

/// What became of the stamps of a kernel.
#[derive(Clone, Copy, Debug)]
pub enum Stamps {
    /// They were left out. A profile takes the image that has them.
    LeftOut(&'static Image),
    /// They are there, by their numbers in the records: the entry has four more parameters, before the tensor maps.
    Made(&'static [Stamp]),
}

/// A place where warps enter a phase.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    /// The name of the phase.
    pub name: &'static str,
    /// The place in the source, such as `src/kernel.rs:12:5`.
    pub place: &'static str,
}

/// The values of a slot.
#[derive(Debug)]
pub struct Values<'a>(pub(crate) &'a [u8]);

impl Values<'_> {
    /// A value.
    pub fn get<T: Element>(&self, index: usize) -> T {
        let bytes = self.0.get(index * 8..index * 8 + T::BYTES).unwrap_or_default();
        let mut bits = [0; 16];
        bits[..bytes.len()].copy_from_slice(bytes);
        T::from_bits(u128::from_le_bytes(bits))
    }

    /// An address, as Rust writes one.
    pub fn address(&self, index: usize) -> *const () {
        // The addresses of devices and of the host have 64 bits.
        std::ptr::without_provenance(usize::try_from(self.get::<u64>(index)).unwrap_or(usize::MAX))
    }
}
