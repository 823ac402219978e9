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
        let key = bits ^ ((bits >> 31) & 0x7fff_ffff);
        select(x.eq(x), key, NAN)
    }
}
