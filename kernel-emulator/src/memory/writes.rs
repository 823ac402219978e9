//! Which bytes of global memory a launch wrote, for the launch after it, which may begin before it is over (PTX ISA, "griddepcontrol").

use std::collections::BTreeMap;

/// Bytes that share an entry.
const LINE: u64 = 64;

/// The bytes that a launch wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writes {
    /// By number of 64 bytes: one bit a byte.
    lines: BTreeMap<u64, u64>,
}

impl Writes {
    /// Bytes are written.
    pub(crate) fn note(&mut self, address: u64, bytes: u64) {
        for (line, mask) in lines(address, bytes) {
            *self.lines.entry(line).or_default() |= mask;
        }
    }

    /// Whether some of these bytes are among them.
    pub(crate) fn meets(&self, address: u64, bytes: u64) -> bool {
        let written = |line: u64| self.lines.get(&line).copied().unwrap_or(0);
        lines(address, bytes).any(|(line, mask)| written(line) & mask != 0)
    }
}

/// The parts of a range in each entry: its number and the bytes in it.
fn lines(address: u64, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    let end = address + bytes;
    let all = address / LINE..end.div_ceil(LINE);
    all.filter(move |_| bytes > 0).map(move |line| {
        let (first, last) = (address.max(line * LINE), end.min((line + 1) * LINE));
        (line, u64::MAX >> (LINE - (last - first)) << (first % LINE))
    })
}
