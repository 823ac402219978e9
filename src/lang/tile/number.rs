//! Order, reductions and absolute values of tiles.

use core::ops::Neg;

use super::{Axes, Tile};
use crate::lang::scalar::{Number, Operand};
use crate::lang::stub;

/// Order and reductions.
impl<T: Number> Tile<T> {
    /// Whether each element is less than the other's. False if either is NaN.
    ///
    /// Layout, PTX and errors: [elementwise operations](Tile#elementwise-operations).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn inside(n: i32) -> Tile<bool> {
    ///     (block_id(0) * 128 + arange(0, 128)).lt(n)
    /// }
    /// ```
    #[must_use = "`lt` gives a new tile, and leaves this one as it was"]
    pub fn lt<B: Operand<T>>(self, other: B) -> Tile<bool> {
        stub()
    }

    /// Whether each element is less than the other's or equal to it. False if either is NaN.
    ///
    /// Layout, PTX and errors: [elementwise operations](Tile#elementwise-operations).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Which columns a row may attend to.
    /// fn causal(rows: Tile<i32>, cols: Tile<i32>) -> Tile<bool> {
    ///     cols.expand(0).le(rows.expand(1))
    /// }
    /// ```
    #[must_use = "`le` gives a new tile, and leaves this one as it was"]
    pub fn le<B: Operand<T>>(self, other: B) -> Tile<bool> {
        stub()
    }

    /// Whether each element is greater than the other's. False if either is NaN.
    ///
    /// Layout, PTX and errors: [elementwise operations](Tile#elementwise-operations).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn relu(x: Tile<f32>) -> Tile<f32> {
    ///     select(x.gt(0.0), x, 0.0)
    /// }
    /// ```
    #[must_use = "`gt` gives a new tile, and leaves this one as it was"]
    pub fn gt<B: Operand<T>>(self, other: B) -> Tile<bool> {
        stub()
    }

    /// Whether each element is greater than the other's or equal to it. False if either is NaN.
    ///
    /// Layout, PTX and errors: [elementwise operations](Tile#elementwise-operations).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn between(x: Tile<i32>, lo: i32, hi: i32) -> Tile<bool> {
    ///     x.ge(lo) & x.lt(hi)
    /// }
    /// ```
    #[must_use = "`ge` gives a new tile, and leaves this one as it was"]
    pub fn ge<B: Operand<T>>(self, other: B) -> Tile<bool> {
        stub()
    }

    /// Each element, but at least `min` and at most `max`, each a scalar or a tile.
    ///
    /// `minimum(maximum(x, min), max)`: NaN becomes `min`, and where `min` is above `max` the result is `max`.
    ///
    /// Layout, PTX and errors: [elementwise operations](Tile#elementwise-operations).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn saturated(x: Tile<f32>) -> Tile<f32> {
    ///     x.clamp(0.0, 1.0)
    /// }
    /// ```
    #[must_use = "`clamp` gives a new tile, and leaves this one as it was"]
    pub fn clamp<A: Operand<T>, B: Operand<T>>(self, min: A, max: B) -> Tile<T> {
        stub()
    }

    /// The sum along `axis`, or over several axes; removes them.
    ///
    /// Every addition is in `T`: integers wrap, floats round. [`cast`](Tile::cast) `f16`, `bf16` and narrow integers
    /// first. The order is as in [`reduce`](Tile::reduce).
    ///
    /// Layout, PTX and errors: [reductions](Tile#reductions).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The sum of squares of each row.
    /// fn energy(x: Tile<f16>) -> Tile<f32> {
    ///     let x = x.cast::<f32>();
    ///     (x * x).sum(1)
    /// }
    ///
    /// /// The sum of squares of all elements.
    /// fn whole_energy(x: Tile<f32>) -> Tile<f32> {
    ///     (x * x).sum([0, 1])
    /// }
    /// ```
    #[must_use = "`sum` gives a new tile, and leaves this one as it was"]
    pub fn sum(self, axis: impl Axes) -> Tile<T> {
        stub()
    }

    /// The greatest element along `axis`, or over several axes; removes them. NaN is ignored unless there is nothing else.
    ///
    /// The elementwise maximum of two tiles is [`maximum`](crate::lang::maximum).
    ///
    /// Layout, PTX and errors: [reductions](Tile#reductions).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn largest_of_rows(x: Tile<f32>) -> Tile<f32> {
    ///     x.max(1)
    /// }
    /// ```
    #[must_use = "`max` gives a new tile, and leaves this one as it was"]
    pub fn max(self, axis: impl Axes) -> Tile<T> {
        stub()
    }

    /// The least element along `axis`, or over several axes; removes them. NaN is ignored unless there is nothing else.
    ///
    /// The elementwise minimum of two tiles is [`minimum`](crate::lang::minimum).
    ///
    /// Layout, PTX and errors: [reductions](Tile#reductions).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn spread(x: Tile<f32>) -> Tile<f32> {
    ///     x.max(1) - x.min(1)
    /// }
    /// ```
    #[must_use = "`min` gives a new tile, and leaves this one as it was"]
    pub fn min(self, axis: impl Axes) -> Tile<T> {
        stub()
    }
}

/// Functions of signed numbers.
impl<T: Number + Neg<Output = T>> Tile<T> {
    /// The absolute value of each element.
    ///
    /// For a float the sign bit is cleared, even of NaN. The least integer of a type has no positive counterpart and
    /// stays as it is.
    ///
    /// Layout, PTX and errors: [elementwise operations](Tile#elementwise-operations).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn largest_magnitude(x: Tile<f32>) -> Tile<f32> {
    ///     x.abs().max(0)
    /// }
    /// ```
    #[must_use = "`abs` gives a new tile, and leaves this one as it was"]
    pub fn abs(self) -> Tile<T> {
        stub()
    }
}
