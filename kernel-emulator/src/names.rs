//! What the source of a kernel calls what its PTX only numbers, where a compiler wrote the text.
//!
//! Who gives a program [`Names`] gives it Kiln's words too: reports then speak of `sync()` instead of `bar.sync`, of `full[1]` instead of
//! an mbarrier at an address, and of the lines of the source before those of the text.

use std::fmt::Write;

use crate::memory::shared::SHARED_BASE;

/// The names of one text, whose only entry is a kernel in Kiln.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// What is in dynamic shared memory. What is not in use at the same time may have the same bytes.
    pub memory: Vec<NamedMemory>,
    /// The partitions of a kernel that is specialised.
    pub partitions: Vec<NamedWarps>,
    /// Lines of the text, from 1, with a `trap`, and what is wrong when that is reached: a sentence without a full stop. Each `{}` in it stands
    /// for an operand of the comparison that failed.
    pub checks: Vec<(u32, String)>,
}

/// What is in some bytes of shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedMemory {
    /// What the source calls it.
    pub name: String,
    /// Where it begins, from the start of a block's dynamic shared memory.
    pub start: u32,
    /// The bytes of all of it.
    pub bytes: u32,
    /// Of what has an index: the bytes of each.
    pub each_bytes: Option<u32>,
    /// Of mbarriers: how many warps arrive for one arrival in the source. `None` unless it is an mbarrier.
    pub warps_an_arrival: Option<u32>,
}

/// The warps that run a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedWarps {
    /// The first of them.
    pub first: u32,
    /// How many there are.
    pub warps: u32,
    /// Line of the partition in the kernel's file, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

impl NamedMemory {
    /// What is at so many bytes from its start: `tile`, or `tile[2]`, and the byte within it.
    fn at(&self, byte: u32) -> (String, u32) {
        match self.each_bytes.filter(|each| *each > 0) {
            Some(each) => (format!("{}[{}]", self.name, byte / each), byte % each),
            None => (self.name.clone(), byte),
        }
    }
}

impl Names {
    /// What is wrong when the `trap` in a line is reached.
    pub(crate) fn check(&self, line: u32) -> Option<&str> {
        self.checks.iter().find(|(at, _)| *at == line).map(|(_, says)| says.as_str())
    }

    /// The partition that a warp runs.
    pub(crate) fn partition(&self, warp: u32) -> Option<&NamedWarps> {
        let runs = |part: &&NamedWarps| {
            warp.checked_sub(part.first).is_some_and(|within| within < part.warps)
        };
        self.partitions.iter().find(runs)
    }

    /// How many warps arrive for one arrival in the source at the mbarrier at a byte of a block's shared memory.
    pub(crate) fn warps_an_arrival(&self, byte: u32, dynamic_offset: u32) -> u32 {
        let byte = byte.checked_sub(dynamic_offset);
        let here = |named: &&NamedMemory| {
            let inside = byte.and_then(|byte| byte.checked_sub(named.start));
            named.warps_an_arrival.is_some() && inside.is_some_and(|inside| inside < named.bytes)
        };
        self.memory.iter().find(here).and_then(|named| named.warps_an_arrival).unwrap_or(1)
    }

    /// What is at a byte of dynamic shared memory, in words with its byte within that; and of an mbarrier its name alone as well.
    fn place(&self, byte: u32) -> Option<(String, Option<String>)> {
        let here = |named: &&NamedMemory| {
            byte.checked_sub(named.start).is_some_and(|inside| inside < named.bytes)
        };
        let mut all = self.memory.iter().filter(here);
        let first = all.next()?;
        let (name, inside) = first.at(byte - first.start);
        let barrier =
            (first.warps_an_arrival.is_some() && inside == 0).then(|| format!("`{name}`"));
        let mut text = format!("byte {inside} of `{name}`");
        for other in all {
            let (name, inside) = other.at(byte - other.start);
            let _ = write!(text, " or byte {inside} of `{name}`");
        }
        Some((text, barrier))
    }

    /// The same by an address, of a block's shared memory whose dynamic part begins so many bytes from its start.
    pub(crate) fn place_at(&self, address: u64, dynamic_offset: u32) -> Option<String> {
        self.place(byte_of(address, dynamic_offset)?).map(|(text, _)| text)
    }

    /// A text of a timeline, with names for the mbarriers in it.
    pub(crate) fn barriers_named(&self, text: &str, dynamic_offset: u32) -> String {
        const BARRIER: &str = "mbarrier 0x";
        let Some((before, digits)) = text.split_once(BARRIER) else { return text.to_owned() };
        let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
        let address = u64::from_str_radix(&digits[..end], 16).ok();
        let place = address.and_then(|address| self.place(byte_of(address, dynamic_offset)?));
        match place {
            Some((_, Some(barrier))) => {
                format!("{before}{}{}", barrier.trim_matches('`'), &digits[end..])
            }
            Some(_) | None => text.to_owned(),
        }
    }

    /// A text of a report with names for the addresses of shared memory in it.
    pub(crate) fn named(&self, text: &str, dynamic_offset: u32) -> String {
        const ADDRESS: &str = "shared address 0x";
        const BARRIER: &str = "the mbarrier at ";
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(ADDRESS) {
            let digits = &rest[at + ADDRESS.len()..];
            let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
            let address = u64::from_str_radix(&digits[..end], 16).ok();
            let before = &rest[..at];
            match address.and_then(|address| self.place(byte_of(address, dynamic_offset)?)) {
                Some((_, Some(barrier))) if before.ends_with(BARRIER) => {
                    out.push_str(before.strip_suffix(BARRIER).unwrap_or(before));
                    out.push_str(&barrier);
                }
                Some((place, _)) => {
                    out.push_str(before);
                    out.push_str(&place);
                }
                None => out.push_str(&rest[..at + ADDRESS.len() + end]),
            }
            rest = &digits[end..];
        }
        out + rest
    }
}

/// The byte of dynamic shared memory at an address, of whatever block of the cluster.
fn byte_of(address: u64, dynamic_offset: u32) -> Option<u32> {
    let inside = (address & 0xFF_FFFF).checked_sub(u64::from(SHARED_BASE + dynamic_offset))?;
    u32::try_from(inside).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let memory = |name: &str, start, bytes, each_bytes, warps_an_arrival| NamedMemory {
            name: name.to_owned(),
            start,
            bytes,
            each_bytes,
            warps_an_arrival,
        };
        Names {
            memory: vec![
                memory("tile", 0, 512, None, None),
                memory("ring", 512, 1024, Some(256), None),
                memory("full", 1536, 32, Some(8), Some(1)),
                memory("done", 1568, 8, None, Some(1)),
                memory("late", 256, 128, None, None),
            ],
            ..Names::default()
        }
    }

    #[test]
    fn addresses_become_names() {
        for (text, required) in [
            ("a load at shared address 0x410, which", "a load at byte 16 of `tile`, which"),
            ("at shared address 0x704", "at byte 4 of `ring[1]`"),
            ("to the mbarrier at shared address 0xa08: 1", "to `full[1]`: 1"),
            ("the mbarrier at shared address 0xa20", "`done`"),
            ("a load at shared address 0xa0c", "a load at byte 4 of `full[1]`"),
            ("the mbarrier at shared address 0xa0c", "the mbarrier at byte 4 of `full[1]`"),
            ("at shared address 0x504", "at byte 260 of `tile` or byte 4 of `late`"),
            // The shared memory of another block of the cluster.
            ("at shared address 0x3000410", "at byte 16 of `tile`"),
            (
                "at shared address 0xa28 and at global address 0x410",
                "at shared address 0xa28 and at global address 0x410",
            ),
            ("at shared address 0x10", "at shared address 0x10"),
            ("shared address 0x410; shared address 0x411", "byte 16 of `tile`; byte 17 of `tile`"),
        ] {
            assert_eq!(names().named(text, 0), required);
        }
        assert_eq!(names().named("at shared address 0x810", 1024), "at byte 16 of `tile`");
    }

    #[test]
    fn lanes_of_a_timeline_have_the_names_of_their_barriers() {
        for (text, required) in [
            ("mbarrier 0xa08", "full[1]"),
            ("waits for phase 2 of mbarrier 0xa20", "waits for phase 2 of done"),
            ("mbarrier 0x410", "mbarrier 0x410"),
            ("warp 3", "warp 3"),
        ] {
            assert_eq!(names().barriers_named(text, 0), required);
        }
    }
}
