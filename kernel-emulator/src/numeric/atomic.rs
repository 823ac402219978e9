//! What `atom` and `red` leave in memory. PTX ISA, "atom" and "red".

use super::format::Format;
use super::integer::{self, Int};
use super::narrow::{self, Half};
use super::scalar::{self, Extreme, Mode, Selection};

/// An operation on integers or bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntOp {
    /// `.add`
    Add,
    /// `.min`
    Min,
    /// `.max`
    Max,
    /// `.inc`: 0 after the bound, else one more.
    Inc,
    /// `.dec`: the bound after 0 or from beyond it, else one less.
    Dec,
    /// `.and`
    And,
    /// `.or`
    Or,
    /// `.xor`
    Xor,
    /// `.exch`
    Exchange,
}

/// The new word for old word and operand.
#[inline]
pub const fn integer(op: IntOp, ty: Int, old: u64, b: u64) -> u64 {
    let (old, b) = (old & ty.mask(), b & ty.mask());
    match op {
        IntOp::Add => integer::add(ty, old, b),
        IntOp::Min => integer::min(ty, old, b),
        IntOp::Max => integer::max(ty, old, b),
        IntOp::Inc => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        IntOp::Dec => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
        IntOp::And => old & b,
        IntOp::Or => old | b,
        IntOp::Xor => old ^ b,
        IntOp::Exchange => b,
    }
}

/// `.cas`: `swap` if the word equals `compare`, else the old word.
#[inline]
pub const fn compare_and_swap(ty: Int, old: u64, compare: u64, swap: u64) -> u64 {
    if (old ^ compare) & ty.mask() == 0 { swap & ty.mask() } else { old & ty.mask() }
}

/// An operation on floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatOp {
    /// `.add`, to nearest even.
    Add,
    /// `.min`, a NaN operand is ignored.
    Min,
    /// `.max`, a NaN operand is ignored.
    Max,
}

impl FloatOp {
    const fn extreme(self) -> Option<Extreme> {
        match self {
            Self::Add => None,
            Self::Min => Some(Extreme::Min),
            Self::Max => Some(Extreme::Max),
        }
    }
}

/// `.f32`. `atom.add.f32` on global memory flushes subnormal operands and results, on shared memory
/// it keeps them ("atom", description of `.add`): `flush` says which.
#[inline]
pub fn f32(op: FloatOp, old: u32, b: u32, flush: bool) -> u32 {
    match op.extreme() {
        None => scalar::add_f32(old, b, if flush { Mode::RN_FTZ } else { Mode::RN }),
        Some(which) => scalar::extreme_f32(which, old, b, Selection { flush, ..Selection::PLAIN }),
    }
}

/// `.f64`. A NaN operand of `.add` goes through unchanged, `b` before the old value, as on an H200,
/// where the memory system adds.
#[inline]
pub fn f64(op: FloatOp, old: u64, b: u64) -> u64 {
    match op.extreme() {
        None if Format::F64.is_nan(b) => b,
        None if Format::F64.is_nan(old) => old,
        None => scalar::add_f64(old, b, Mode::RN),
        Some(which) => scalar::extreme_f64(which, old, b, Selection::PLAIN),
    }
}

/// `.noftz.f16` and `.noftz.bf16`.
#[inline]
pub fn half(op: FloatOp, ty: Half, old: u16, b: u16) -> u16 {
    match op.extreme() {
        None => narrow::add(ty, old, b, Mode::RN),
        Some(which) => narrow::extreme(which, ty, old, b, Selection::PLAIN),
    }
}

/// `.noftz.f16x2` and `.noftz.bf16x2`: two operations, each atomic on its own.
#[inline]
pub fn half2(op: FloatOp, ty: Half, old: u32, b: u32) -> u32 {
    narrow::zip2(old, b, |x, y| half(op, ty, x, y))
}
