//! The columns that an instruction can have, and the fewest instructions for a tile.

/// The most columns of B of one instruction.
pub const INSTRUCTION_N_LIMIT: u32 = 256;

/// The element types of a product, which decide the possible N.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Elements {
    /// `f16`, `bf16`, `tf32` and FP8: every multiple of 8 up to 256.
    Float,
    /// `s8` and `u8`: 8, 16, 24, 32, and from there on every multiple of 16 up to 256.
    Integer,
}

/// Whether an instruction has `n` columns (PTX ISA, "`wgmma.mma_async`": the shapes of each type).
///
/// ```
/// use kernel_layout::wgmma::{Elements, is_instruction_n};
/// assert!(is_instruction_n(40, Elements::Float));
/// assert!(!is_instruction_n(40, Elements::Integer));
/// assert!(!is_instruction_n(264, Elements::Float));
/// ```
pub fn is_instruction_n(n: u32, elements: Elements) -> bool {
    let whole = match elements {
        Elements::Float => n.is_multiple_of(8),
        Elements::Integer => n.is_multiple_of(16) || n == 8 || n == 24,
    };
    whole && (1..=INSTRUCTION_N_LIMIT).contains(&n)
}

/// The columns of each of the fewest instructions that together have `columns`, as equal as possible; none if no number
/// of instructions has them.
///
/// ```
/// use kernel_layout::wgmma::{Elements, instruction_n};
/// assert_eq!(instruction_n(256, Elements::Float), Some(vec![256]));
/// assert_eq!(instruction_n(320, Elements::Float), Some(vec![160, 160]));
/// assert_eq!(instruction_n(40, Elements::Integer), Some(vec![16, 24]));
/// assert_eq!(instruction_n(12, Elements::Float), None);
/// ```
pub fn instruction_n(columns: u32, elements: Elements) -> Option<Vec<u32>> {
    if columns == 0 || !columns.is_multiple_of(8) {
        return None;
    }
    if is_instruction_n(columns, elements) {
        return Some(vec![columns]);
    }
    match elements {
        Elements::Float => Some(evenly(columns, 8)),
        Elements::Integer if columns.is_multiple_of(16) => Some(evenly(columns, 16)),
        // An odd multiple of 8 needs one of the two odd instructions, of which the larger leaves less.
        Elements::Integer => {
            let mut parts = evenly(columns - 24, 16);
            parts.push(24);
            Some(parts)
        }
    }
}

/// Multiples of `unit`, as few as possible and as equal, the larger ones first.
fn evenly(columns: u32, unit: u32) -> Vec<u32> {
    let (units, parts) = (columns / unit, columns.div_ceil(INSTRUCTION_N_LIMIT));
    (0..parts).map(|part| (units / parts + u32::from(part < units % parts)) * unit).collect()
}
