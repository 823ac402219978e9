//! `set`, `setp`, `slct` and the half-precision comparisons. PTX ISA, "Comparison and Selection
//! Instructions" and "Half Precision Comparison Instructions".

use super::format::Format;
use super::integer::Int;

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `.eq`: false if an operand is NaN.
    Equal,
    /// `.ne`: false if an operand is NaN.
    NotEqual,
    /// `.lt`, `.lo`
    Less,
    /// `.le`, `.ls`
    LessEqual,
    /// `.gt`, `.hi`
    Greater,
    /// `.ge`, `.hs`
    GreaterEqual,
    /// `.equ`: true if an operand is NaN, as the next five.
    EqualUnordered,
    /// `.neu`
    NotEqualUnordered,
    /// `.ltu`
    LessUnordered,
    /// `.leu`
    LessEqualUnordered,
    /// `.gtu`
    GreaterUnordered,
    /// `.geu`
    GreaterEqualUnordered,
    /// `.num`: neither operand is NaN.
    Number,
    /// `.nan`: some operand is NaN.
    NotANumber,
}

impl Comparison {
    /// The answer for an ordering, `None` when an operand is NaN.
    #[inline]
    pub fn holds(self, ordering: Option<std::cmp::Ordering>) -> bool {
        let Some(ordering) = ordering else {
            return match self {
                Self::Equal
                | Self::NotEqual
                | Self::Less
                | Self::LessEqual
                | Self::Greater
                | Self::GreaterEqual
                | Self::Number => false,
                Self::EqualUnordered
                | Self::NotEqualUnordered
                | Self::LessUnordered
                | Self::LessEqualUnordered
                | Self::GreaterUnordered
                | Self::GreaterEqualUnordered
                | Self::NotANumber => true,
            };
        };
        match self {
            Self::Equal | Self::EqualUnordered => ordering.is_eq(),
            Self::NotEqual | Self::NotEqualUnordered => ordering.is_ne(),
            Self::Less | Self::LessUnordered => ordering.is_lt(),
            Self::LessEqual | Self::LessEqualUnordered => ordering.is_le(),
            Self::Greater | Self::GreaterUnordered => ordering.is_gt(),
            Self::GreaterEqual | Self::GreaterEqualUnordered => ordering.is_ge(),
            Self::Number => true,
            Self::NotANumber => false,
        }
    }
}

/// Compares integers of a type; containers' higher bits are ignored. For `.b16 .b32 .b64` operands,
/// which have only `.eq` and `.ne`, any type of that width does.
#[inline]
pub fn integers(op: Comparison, ty: Int, a: u64, b: u64) -> bool {
    let (a, b) = (ty.extend(a), ty.extend(b));
    let ordering = if ty.is_signed() { a.cast_signed().cmp(&b.cast_signed()) } else { a.cmp(&b) };
    op.holds(Some(ordering))
}

/// Compares f16, bf16, f32 or f64 values; `flush` is `.ftz`. Zeros of either sign are equal.
#[inline]
pub fn floats(op: Comparison, format: Format, a: u64, b: u64, flush: bool) -> bool {
    op.holds(order(format, a, b, flush))
}

/// How two values compare, `None` if either is NaN.
#[inline]
pub fn order(format: Format, a: u64, b: u64, flush: bool) -> Option<std::cmp::Ordering> {
    if format.is_nan(a) || format.is_nan(b) {
        return None;
    }
    let key = |bits: u64| {
        let bits = if flush { format.flush(bits) } else { bits };
        let magnitude = (bits & format.magnitude_mask()).cast_signed();
        if bits & format.sign_bit() != 0 { -magnitude } else { magnitude }
    };
    Some(key(a).cmp(&key(b)))
}

/// How the result of a comparison joins the third operand of `set` and `setp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// No third operand.
    None,
    /// `.and`
    And,
    /// `.or`
    Or,
    /// `.xor`
    Xor,
}

impl Join {
    /// `setp`'s two results, `p` from the comparison and `q` from its negation.
    #[inline]
    pub const fn apply(self, compared: bool, c: bool) -> (bool, bool) {
        match self {
            Self::None => (compared, !compared),
            Self::And => (compared && c, !compared && c),
            Self::Or => (compared || c, !compared || c),
            Self::Xor => (compared ^ c, !compared ^ c),
        }
    }
}

/// `set`'s result: all ones for `.u32 .s32` (and `.u16 .s16`), 1.0 for a float destination.
#[inline]
pub const fn set_integer(truth: bool) -> u32 {
    if truth { u32::MAX } else { 0 }
}

/// `set.f32`'s result.
#[inline]
pub const fn set_f32(truth: bool) -> u32 {
    if truth { 0x3f80_0000 } else { 0 }
}

/// `slct.T.s32`: whether `a` is taken.
#[inline]
pub const fn select_s32(c: u32) -> bool {
    c.cast_signed() >= 0
}

/// `slct{.ftz}.T.f32`: whether `a` is taken. -0 counts as at least 0, with `.ftz` so does every
/// negative subnormal; NaN takes `b`.
#[inline]
pub fn select_f32(c: u32, flush: bool) -> bool {
    floats(Comparison::GreaterEqual, Format::F32, c.into(), 0, flush)
}
