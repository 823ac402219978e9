//! Floating-point numbers as integers in the same order.

/// Integers in the order of numbers, with NaN above all: the order of `torch.topk`, `torch.sort` and `torch.argmax`.
#[kiln::device]
pub(crate) mod items {
    use kiln::prelude::*;

    /// Below every number.
    pub(crate) const LEAST: i32 = i32::MIN;
    /// That of NaN.
    pub(crate) const NAN: i32 = i32::MAX;

    /// The integers of numbers: -0 is 0, and all NaNs are [`NAN`].
    pub(crate) fn ordered(x: Tile<f32>) -> Tile<i32> {
        // Of negative numbers, all bits but the sign are turned around.
        let bits = (x + 0.0).bitcast::<i32>();
        select(x.is_nan(), NAN, bits ^ ((bits >> 31) & 0x7fff_ffff))
    }

    /// The numbers of integers that [`ordered`] gives.
    pub(crate) fn numbers(keys: Tile<i32>) -> Tile<f32> {
        (keys ^ ((keys >> 31) & 0x7fff_ffff)).bitcast::<f32>()
    }

    /// The integer of a number that is not NaN.
    #[expect(clippy::cast_possible_wrap, reason = "the bits stay as they are")]
    pub(crate) fn key(x: f32) -> i32 {
        let bits = (x + 0.0).to_bits() as i32;
        bits ^ ((bits >> 31) & 0x7fff_ffff)
    }

    /// The number of an integer.
    #[expect(clippy::cast_sign_loss, reason = "the bits stay as they are")]
    pub(crate) fn number(key: i32) -> f32 {
        f32::from_bits((key ^ ((key >> 31) & 0x7fff_ffff)) as u32)
    }
}
