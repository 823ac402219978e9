//! Matrices in shared memory (PTX ISA, "Shared memory descriptor", "Canonical layouts").

use crate::fault::{FaultKind, Run, Trap};
use crate::memory::shared::{SHARED_BASE, Shared};
use crate::numeric::tcgen05::Factor;

/// Bytes that are contiguous in every layout.
const UNIT: u32 = 16;

/// Which dimension of a matrix is contiguous in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Major {
    K,
    /// Rows of A, columns of B.
    Mn,
}

/// How units of sixteen bytes are exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Swizzle {
    None,
    /// Within this many bytes.
    Span(u32),
    /// Pairs of units within 128 bytes.
    Pairs,
}

/// A matrix descriptor. The names are the manual's; all but `swizzle` and `base_offset` are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Descriptor {
    start: u32,
    leading: u32,
    stride: u32,
    /// From which multiple of 128 bytes the pattern of the swizzle counts.
    base_offset: u32,
    swizzle: Swizzle,
}

impl Descriptor {
    /// Decodes and checks the descriptor of a matrix.
    pub(super) fn decode(bits: u64, name: &str) -> Run<Descriptor> {
        let field = |low: u32, width: u32| {
            u32::try_from(bits >> low & ((1 << width) - 1)).expect("fields have at most 14 bits")
        };
        let wrong = |what: &str, required: &str, actual: u32| {
            let detail = format!(
                "the shared memory descriptor {bits:#018x} of {name}: {what}: required {required}, actual {actual}"
            );
            Err(Trap::new(FaultKind::IllegalOperand, detail))
        };
        if field(46, 3) != 1 {
            return wrong("bits 46 to 48, a constant", "1", field(46, 3));
        }
        if field(52, 1) != 0 {
            return wrong(
                "bit 52, an absolute leading dimension, which exists on sm_103a only",
                "0",
                1,
            );
        }
        if field(53, 8) != 0 {
            return wrong("bits 53 to 60", "0", field(53, 8));
        }
        let swizzle = match field(61, 3) {
            0 => Swizzle::None,
            1 => Swizzle::Pairs,
            2 => Swizzle::Span(128),
            4 => Swizzle::Span(64),
            6 => Swizzle::Span(32),
            code => {
                return wrong(
                    "the swizzle",
                    "0 none, 1 128 bytes in atoms of 32, 2 128 bytes, 4 64 bytes or 6 32 bytes",
                    code,
                );
            }
        };
        Ok(Descriptor {
            start: field(0, 14) * UNIT,
            leading: field(16, 14) * UNIT,
            stride: field(32, 14) * UNIT,
            base_offset: field(49, 3),
            swizzle,
        })
    }

    /// Whether a matrix whose rows are contiguous along M or N may be of these elements: with atoms of 32 bytes those of
    /// 32 bits, without those that are narrower.
    pub(super) fn transposes(&self, factor: Factor, name: &str) -> Run<()> {
        let (required, actual) = match (self.swizzle, factor) {
            (Swizzle::None | Swizzle::Span(_), Factor::Tf32) => {
                ("the swizzle 1, 128 bytes in atoms of 32, for 32-bit elements", "another")
            }
            (Swizzle::Pairs, factor) if factor != Factor::Tf32 => {
                ("another swizzle than 1, which is for 32-bit elements", "swizzle 1")
            }
            (Swizzle::None | Swizzle::Span(_) | Swizzle::Pairs, _) => return Ok(()),
        };
        let detail = format!("{name} is transposed: required {required}, actual {actual}");
        Err(Trap::new(FaultKind::IllegalOperand, detail))
    }

    /// The shared address of the 16 bytes with number `along` in the contiguous dimension, at `across` in the
    /// other one: for K-major a row or column and a part of k, for MN-major a part of the rows or columns and a k.
    pub(super) fn unit(&self, major: Major, across: u32, along: u32) -> u32 {
        let span = match self.swizzle {
            Swizzle::None => {
                let (eights, along_bytes) = match major {
                    Major::K => (self.stride, self.leading),
                    Major::Mn => (self.leading, self.stride),
                };
                return self.start + across % 8 * UNIT + across / 8 * eights + along * along_bytes;
            }
            Swizzle::Span(span) => span,
            Swizzle::Pairs => 128,
        };
        let within = span / UNIT;
        // Transposed pairs come in groups of four along k, all else in groups of eight.
        let group = if self.swizzle == Swizzle::Pairs && major == Major::Mn { 4 } else { 8 };
        let along_bytes = match major {
            Major::K => along * UNIT,
            Major::Mn => along % within * UNIT + along / within * self.leading,
        };
        let linear =
            self.start + across % group * span + across / group * self.stride + along_bytes;
        let row = linear.wrapping_sub(self.base_offset * 128) / 128;
        match self.swizzle {
            // The bits of the address from 128 on are exchanged with those that choose two units.
            Swizzle::Pairs => linear ^ ((row * 2 * UNIT) & 0x60),
            // Or those that choose a unit of the span.
            Swizzle::None | Swizzle::Span(_) => linear ^ ((row * UNIT) & (span - UNIT)),
        }
    }
}

/// Sixteen bytes of shared memory.
#[derive(Clone, Copy)]
pub(super) struct Bytes {
    pub(super) value: u128,
    pub(super) written: bool,
    /// Their number in the block's shared memory.
    pub(super) unit: u32,
}

/// Reads sixteen bytes, of which the first `used` matter.
pub(super) fn bytes(memory: &Shared, address: u32, used: u32, name: &str) -> Run<Bytes> {
    let offset = address.wrapping_sub(SHARED_BASE);
    if address < SHARED_BASE || offset + UNIT > memory.bytes() {
        let size = memory.bytes();
        let detail = format!(
            "{name} has bytes at shared address {address:#x}, outside the block's shared memory of {size} bytes at {SHARED_BASE:#x}"
        );
        return Err(Trap::new(FaultKind::OutOfBounds, detail).address(u64::from(address)));
    }
    let ([low, high], whole) = memory.row(offset);
    let mut part = [0; UNIT as usize];
    let written = whole || memory.read(offset, &mut part[..used as usize]).is_none();
    Ok(Bytes { value: u128::from(high) << 64 | u128::from(low), written, unit: offset / UNIT })
}

impl Bytes {
    /// Which of the four words were written.
    pub(super) fn words_written(&self, memory: &Shared) -> [bool; 4] {
        let word = |i: u32| memory.read(UNIT * self.unit + 4 * i, &mut [0; 4]).is_none();
        [0, 1, 2, 3].map(|i| self.written || word(i))
    }
}

/// What was read of a matrix.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// Its 16 bytes each, numbered from the start of the block's shared memory.
    pub(super) units: Vec<u32>,
    /// Rows or columns with bytes that were never written; and the last of such addresses.
    pub(super) unwritten: Vec<u32>,
    pub(super) unwritten_at: Option<u64>,
}

/// Reads `rows` rows of A, or columns of B, of this many units along k: `put` gets the row, the place along k, and the value.
pub(super) fn read(
    memory: &Shared,
    name: &str,
    (descriptor, major): (Descriptor, Major),
    (factor, rows, depth): (Factor, u32, usize),
    mut put: impl FnMut(usize, usize, f32),
) -> Run<Read> {
    let elements = factor.per_unit();
    let narrow = |n: usize| u32::try_from(n).expect("a matrix is small");
    let mut read = Read::default();
    let (outer, inner) = match major {
        Major::K => (rows, narrow(depth / elements)),
        Major::Mn => (rows.div_ceil(narrow(elements)), narrow(depth)),
    };
    read.units.reserve((outer * inner) as usize);
    let mut values = [0.0; 32];
    for i in 0..outer {
        for j in 0..inner {
            let (across, along) = match major {
                Major::K => (i, j),
                Major::Mn => (j, i),
            };
            let address = descriptor.unit(major, across, along);
            let bytes = bytes(memory, address, factor.unit_bytes(), name)?;
            read.units.push(bytes.unit);
            let (row, k) = match major {
                Major::K => (i as usize, j as usize * elements),
                Major::Mn => (i as usize * elements, j as usize),
            };
            if !bytes.written {
                let several = if major == Major::K { 1 } else { elements };
                read.unwritten.extend((row..row + several).map(narrow).filter(|row| *row < rows));
                read.unwritten_at = Some(u64::from(address));
            }
            factor.widen_unit(bytes.value, &mut values);
            for (e, value) in values[..elements].iter().enumerate() {
                match major {
                    Major::K => put(row, k + e, *value),
                    Major::Mn if row + e < rows as usize => put(row + e, k, *value),
                    Major::Mn => {}
                }
            }
        }
    }
    Ok(read)
}
