//! Parts of integers, by their bits.

/// The low `bits` bits, extended by their sign.
pub(crate) fn sign_extended(value: i64, bits: u32) -> i64 {
    (value << (64 - bits)) >> (64 - bits)
}

/// The low 32 bits.
pub(crate) fn low_word(value: i64) -> u32 {
    u32::try_from(value & 0xffff_ffff).expect("the rest was cut off")
}

/// log2 of a power of two above 1.
pub(crate) fn log2(value: i64) -> Option<u32> {
    (value > 1 && value & (value - 1) == 0).then(|| value.trailing_zeros())
}
