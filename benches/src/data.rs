//! Data from a seed.

#![expect(clippy::cast_precision_loss, reason = "24 bits fit an f32")]

/// Normally distributed numbers of variance 1, always the same for a seed, as the device has them: `convert` rounds each to its type.
///
/// They repeat after 2^20 + 7 numbers, which no row length divides.
pub fn normal<T: Clone>(len: usize, seed: u64, convert: impl Fn(f32) -> T) -> Vec<T> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut uniform = move || {
        // xorshift64*, the upper 24 bits.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        let bits = state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40;
        (bits as f32 + 0.5) / (1u32 << 24) as f32
    };
    let period = ((1 << 20) + 7).min(len);
    let mut numbers = Vec::with_capacity(len);
    while numbers.len() < period {
        // Box and Muller's: a length and an angle make two numbers.
        let length = (-2.0 * uniform().ln()).sqrt();
        let (sine, cosine) = (std::f32::consts::TAU * uniform()).sin_cos();
        numbers.extend([convert(length * sine), convert(length * cosine)]);
    }
    numbers.truncate(period);
    while numbers.len() < len {
        let more = period.min(len - numbers.len());
        numbers.extend_from_within(..more);
    }
    numbers
}
