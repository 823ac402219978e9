//! The factors of `wgmma` in shared memory (PTX ISA, "Shared Memory Matrix Layout", "Matrix Descriptor
//! Format").

use crate::code::wgmma::Major;
use crate::fault::{FaultKind, Run, Trap};
use crate::memory::shared::{SHARED_BASE, Shared};
use crate::numeric::lossy::low32;
use crate::numeric::wgmma::Factor;

/// Bytes that are contiguous in every layout.
const UNIT: u32 = 16;

/// A matrix descriptor. The names are the manual's; all but `span` and `base_offset` are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Descriptor {
    start: u32,
    leading: u32,
    stride: u32,
    /// From which multiple of 128 bytes the pattern of the swizzle counts.
    base_offset: u32,
    /// Bytes within which the swizzle exchanges units; none where it does not.
    span: Option<u32>,
}

impl Descriptor {
    fn decode(bits: u64) -> Descriptor {
        let field = |low: u32, width: u32| {
            u32::try_from(bits >> low & ((1 << width) - 1)).expect("fields have at most 14 bits")
        };
        Descriptor {
            start: field(0, 14) * UNIT,
            leading: field(16, 14) * UNIT,
            stride: field(32, 14) * UNIT,
            base_offset: field(49, 3),
            span: [None, Some(128), Some(64), Some(32)][field(62, 2) as usize],
        }
    }

    /// The shared address of the 16 bytes with number `along` in the contiguous dimension, at `across` in the
    /// other one: for K-major a row or column and a half of k, for MN-major eight rows or columns and a k.
    fn unit(&self, major: Major, across: u32, along: u32) -> u32 {
        let Some(span) = self.span else {
            let (eights, along_bytes) = match major {
                Major::K => (self.stride, self.leading),
                Major::Mn => (self.leading, self.stride),
            };
            return self.start + across % 8 * UNIT + across / 8 * eights + along * along_bytes;
        };
        let within = span / UNIT;
        let along_bytes = match major {
            Major::K => along * UNIT,
            Major::Mn => along % within * UNIT + along / within * self.leading,
        };
        let linear = self.start + across % 8 * span + across / 8 * self.stride + along_bytes;
        let row = linear.wrapping_sub(self.base_offset * 128) / 128;
        // The bits of the address from 128 on are exchanged with those that choose a unit of the span.
        linear ^ ((row * UNIT) & (span - UNIT))
    }
}

/// What was read of a matrix.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// Its 16 bytes each, numbered from the start of the block's shared memory, in order of rows (of A) or
    /// columns (of B).
    pub(super) units: Vec<u32>,
    /// Rows or columns with bytes that were never written; and the last of such addresses.
    pub(super) unwritten: Vec<u32>,
    pub(super) unwritten_at: u64,
}

/// Reads `rows` rows of A, or columns of B, of so many bytes along k: `put` gets the row, the place along k, and the value.
pub(super) fn read(
    memory: &Shared,
    name: &str,
    (bits, major): (u64, Major),
    (factor, rows, bytes): (Factor, u32, u32),
    mut put: impl FnMut(usize, usize, f32),
) -> Run<Read> {
    let descriptor = Descriptor::decode(bits);
    let elements = UNIT as usize / factor.bytes();
    let mut read = Read::default();
    let (outer, inner) = match major {
        Major::K => (rows, bytes / UNIT),
        Major::Mn => (rows / 8, bytes / u32::try_from(factor.bytes()).expect("at most 4")),
    };
    read.units.reserve((outer * inner) as usize);
    for i in 0..outer {
        for j in 0..inner {
            let (across, along) = match major {
                Major::K => (i, j),
                Major::Mn => (j, i),
            };
            let address = descriptor.unit(major, across, along);
            let offset = address.wrapping_sub(SHARED_BASE);
            if address < SHARED_BASE || offset + UNIT > memory.bytes() {
                return Err(outside(memory, name, bits, address));
            }
            let (words, whole) = memory.row(offset);
            read.units.push(offset / UNIT);
            let (row, k) = match major {
                Major::K => (i as usize, j as usize * elements),
                Major::Mn => (i as usize * 8, j as usize),
            };
            if !whole {
                let several = if major == Major::K { 1 } else { 8 };
                read.unwritten
                    .extend((row..row + several).map_while(|row| u32::try_from(row).ok()));
                read.unwritten_at = u64::from(address);
            }
            let mut values = [0.0; 16];
            let per_word = elements / 4;
            for (w, word) in words.into_iter().enumerate() {
                let at = 2 * w * per_word;
                factor.widen(low32(word), &mut values[at..]);
                factor.widen(low32(word >> 32), &mut values[at + per_word..]);
            }
            for (e, value) in values[..elements].iter().enumerate() {
                match major {
                    Major::K => put(row, k + e, *value),
                    Major::Mn => put(row + e, k, *value),
                }
            }
        }
    }
    Ok(read)
}

#[cold]
fn outside(memory: &Shared, name: &str, bits: u64, address: u32) -> Trap {
    let size = memory.bytes();
    let detail = format!(
        "matrix {name} of `wgmma`, with descriptor {bits:#018x}, has bytes at shared address {address:#x}, outside the block's shared memory of {size} bytes at {SHARED_BASE:#x}"
    );
    Trap::new(FaultKind::OutOfBounds, detail).address(u64::from(address))
}
