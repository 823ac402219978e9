//! Conversions that lose something on purpose, a function each. All others of these modules are exact,
//! or read the same bits as another type.

/// The low 8 bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the rest is cut off on purpose")]
pub(crate) const fn low8(bits: u64) -> u8 {
    bits as u8
}

/// The low 16 bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the rest is cut off on purpose")]
pub(crate) const fn low16(bits: u64) -> u16 {
    bits as u16
}

/// The low 32 bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the rest is cut off on purpose")]
pub(crate) const fn low32(bits: u64) -> u32 {
    bits as u32
}

/// The low 64 bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the rest is cut off on purpose")]
pub(crate) const fn low64(bits: u128) -> u64 {
    bits as u64
}

/// The nearest f32, ties to even.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "rounds on purpose")]
pub(crate) const fn nearest(x: f64) -> f32 {
    x as f32
}

/// The nearest f32 to an integer, ties to even.
#[inline]
#[expect(clippy::cast_precision_loss, reason = "rounds on purpose")]
pub(crate) const fn nearest_of_s32(x: i32) -> f32 {
    x as f32
}

/// The nearest f32 to an integer, ties to even.
#[inline]
#[expect(clippy::cast_precision_loss, reason = "rounds on purpose")]
pub(crate) const fn nearest_of_u32(x: u32) -> f32 {
    x as f32
}

/// The integer towards zero, within the type's range; 0 for NaN.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "rounds on purpose")]
pub(crate) const fn whole_s32(x: f32) -> i32 {
    x as i32
}

/// The integer towards zero, within the type's range; 0 for NaN.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounds on purpose, and negative numbers give 0"
)]
pub(crate) const fn whole_u32(x: f32) -> u32 {
    x as u32
}
