//! Why a tile cannot be read as an operand, as facts for the compiler's diagnostics.

use std::error::Error;
use std::fmt;

use super::INSTRUCTION_N_LIMIT;
use crate::{Dim, Form, Mismatch, basis_text};

/// Why `wgmma` cannot read a tile as an operand.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Refusal {
    /// No product has elements of this size.
    ElementBytes {
        /// The size of an element.
        actual: u32,
        /// The possible sizes.
        allowed: &'static [u32],
    },
    /// An operand is a matrix.
    Rank {
        /// The axes of the tile.
        actual: usize,
        /// The axes of a matrix.
        required: usize,
    },
    /// The layout is not one of a single block's shared memory.
    Dim {
        /// The dimension that shared memory lacks.
        actual: Dim,
    },
    /// Some element is stored nowhere, or in several places.
    NotOnePlaceEach,
    /// The tile is larger than descriptors reach.
    Bytes {
        /// The size of the tile.
        actual: u64,
        /// The bytes that descriptors reach.
        limit: u64,
    },
    /// No instruction reads this number of rows or columns; only powers of two from 8 to 256 are allowed.
    Instruction {
        /// The rows or columns asked for.
        actual: u32,
    },
    /// The tile is smaller than one instruction.
    Extent {
        /// The axis of the tile.
        axis: usize,
        /// Its size.
        actual: u32,
        /// The elements that one instruction reads along it.
        required: u32,
    },
    /// The tile is contiguous along MN, which only elements of 16 bits may be, and those of 8 bits of `tcgen05.mma` (PTX ISA,
    /// "`wgmma.mma_async`": `imm-trans-a`, `imm-trans-b`; "tcgen05: Canonical layouts").
    MnMajor {
        /// The size of an element.
        element_bytes: u32,
        /// The axis that is contiguous.
        mn_axis: usize,
        /// A layout that the instruction reads.
        nearest: Box<Nearest>,
    },
    /// No descriptor finds the elements.
    Bases {
        /// A layout that the instruction reads.
        nearest: Box<Nearest>,
    },
}

impl Refusal {
    /// The nearest layout that can be read, and where it differs; none if no layout of this tile can be read.
    pub fn nearest(&self) -> Option<&Nearest> {
        match self {
            Refusal::MnMajor { nearest, .. } | Refusal::Bases { nearest } => Some(nearest),
            Refusal::ElementBytes { .. }
            | Refusal::Rank { .. }
            | Refusal::Dim { .. }
            | Refusal::NotOnePlaceEach
            | Refusal::Bytes { .. }
            | Refusal::Instruction { .. }
            | Refusal::Extent { .. } => None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::ElementBytes { actual, allowed } => {
                write!(f, "an element has {actual} bytes, but must have one of {allowed:?}")
            }
            Refusal::Rank { actual, required } => {
                write!(f, "the tile has {actual} axes where {required} are required")
            }
            Refusal::Dim { actual } => {
                write!(
                    f,
                    "the layout has a dimension {actual}, but the shared memory of one block has none"
                )
            }
            Refusal::NotOnePlaceEach => {
                f.write_str("every element must have one place, but some have none or several")
            }
            Refusal::Bytes { actual, limit } => {
                write!(f, "the tile has {actual} bytes, but descriptors reach {limit}")
            }
            Refusal::Instruction { actual } => write!(
                f,
                "an instruction of {actual} rows or columns was asked for, but a power of two from 8 to \
                 {INSTRUCTION_N_LIMIT} is required"
            ),
            Refusal::Extent { axis, actual, required } => {
                write!(f, "axis {axis} has {actual} elements, but one instruction reads {required}")
            }
            Refusal::MnMajor { element_bytes, mn_axis, nearest } => write!(
                f,
                "elements of {} bits must be contiguous along axis {}, but are along axis {mn_axis}: \
                 {nearest}",
                8 * element_bytes,
                1 - mn_axis
            ),
            Refusal::Bases { nearest } => nearest.fmt(f),
        }
    }
}

impl Error for Refusal {}

/// The nearest layout that can be read.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Nearest {
    /// The layout that can be read: the widest swizzle that the tile can have, contiguous along the same axis where that is
    /// possible.
    pub form: Form,
    /// The first basis that differs; the one of this layout is required.
    pub mismatch: Mismatch,
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mismatch { dim, bit, actual, required } = &self.mismatch;
        let words = |basis: &Option<Vec<u32>>| {
            basis.as_ref().map_or_else(|| "nowhere".to_owned(), basis_text)
        };
        write!(
            f,
            "bit {bit} of {dim} leads to {}, but to {} in `{}`, the nearest layout that can be read",
            words(actual),
            words(required),
            self.form
        )
    }
}
