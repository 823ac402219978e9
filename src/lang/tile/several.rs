//! Reductions and scans of several tiles at once.

use super::{Axes, Tile};
use crate::lang::scalar::Scalar;
use crate::lang::sealed::Sealed;
use crate::lang::stub;

/// A tuple of tiles that are reduced or scanned together: `(mean, deviation, count).reduce(1, merge)`.
///
/// The function of two values then takes two tuples of scalars, one value of each tile, and returns one: what it computes
/// for one tile may depend on the others. The element types may differ. A tuple has 2 to 8 parts, each of them a tile or
/// again such a tuple.
///
/// The tiles are broadcast to one shape as in operators: `(x, y)` of shapes `(M, N)` and `(M, 1)` are both `(M, N)`.
/// An axis is one of that shape, and all results have the same shape.
///
/// # Structs
///
/// A struct of tiles is taken apart into a tuple first. The closure gets the same tuple with scalars instead of tiles, and the fields of
/// a struct have fixed types: a struct of tiles cannot become one of scalars. The closure may make structs of its scalars
/// and call their methods:
///
/// ```no_run
/// use kiln::prelude::*;
///
/// #[device]
/// mod statistics {
///     use kiln::prelude::*;
///
///     /// How many values there are, their mean, and the sum of their squared distances from it.
///     #[derive(Clone, Copy)]
///     pub struct Moments {
///         pub count: f32,
///         pub mean: f32,
///         pub squares: f32,
///     }
///
///     impl Moments {
///         /// Those of all values of both (Chan, Golub and LeVeque).
///         pub fn merge(self, other: Moments) -> Moments {
///             let count = self.count + other.count;
///             let (delta, part) = (other.mean - self.mean, other.count / count);
///             Moments {
///                 count,
///                 mean: self.mean + delta * part,
///                 squares: self.squares + other.squares + delta * delta * self.count * part,
///             }
///         }
///     }
/// }
/// use statistics::Moments;
///
/// /// The mean and the variance of each row.
/// fn moments(x: Tile<f32>) -> (Tile<f32>, Tile<f32>) {
///     let ones = full::<f32>([16, 128], 1.0);
///     let (count, mean, squares) = (ones, x, zeros::<f32>([16, 128])).reduce(1, |(n, m, s), (k, l, t)| {
///         let a = Moments { count: n, mean: m, squares: s };
///         let all = a.merge(Moments { count: k, mean: l, squares: t });
///         (all.count, all.mean, all.squares)
///     });
///     (mean, squares / count)
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of tiles",
    label = "must be a tuple of 2 to 8 tiles"
)]
pub trait Tiles: Copy + Sealed {
    /// A tuple with one element of each tile.
    type Element: Copy;

    /// Combines the elements along `axis` with `f`, and removes the axis, or each of several axes.
    ///
    /// It is [`Tile::reduce`] of several tiles. `f` has to be associative and commutative, since the order of combination
    /// is not specified: a payload that follows its key has to do so in either order, so ties are decided by the values,
    /// as by an index among them. The closure may contain the same as in [`map`](Tile::map).
    ///
    /// # Layout
    ///
    /// The tiles are brought to one layout, and the results have the [`slice`](crate::lang::slice) of it.
    ///
    /// PTX and errors: [reductions](Tile#reductions), of each tile; K0202 if the shapes do not fit, K0206 if `f` does not
    /// return the tuple that it takes.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The greatest score of each row, the first of equal ones, and the label beside it. No score is NaN.
    /// fn best(scores: Tile<f32>, labels: Tile<i32>) -> (Tile<f32>, Tile<i32>) {
    ///     let positions = arange(0, 128).expand(0);
    ///     let (score, label, _) = (scores, labels, positions).reduce(1, |(a, x, i), (b, y, j)| {
    ///         if b > a || (b == a && j < i) { (b, y, j) } else { (a, x, i) }
    ///     });
    ///     (score, label)
    /// }
    /// ```
    #[must_use]
    fn reduce(
        self,
        axis: impl Axes,
        f: impl Fn(Self::Element, Self::Element) -> Self::Element,
    ) -> Self {
        stub()
    }

    /// The elements combined with all before them along `axis`: an inclusive scan with `f`.
    ///
    /// It is [`Tile::scan`] of several tiles: in `f(a, b)`, `a` comes before `b`, `f` must be associative and need not be
    /// commutative, and the order of combination is specified there.
    ///
    /// # Layout
    ///
    /// The tiles are brought to one layout, which the results have.
    ///
    /// PTX and errors: those of [`Tile::scan`](Tile::scan), of each tile; K0202 if the shapes do not fit, K0206 if `f` does not return
    /// the tuple that it takes.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The states of a linear recurrence, `h[t] = a[t] * h[t - 1] + b[t]` from 0 on (a selective scan).
    /// fn states(a: Tile<f32>, b: Tile<f32>) -> Tile<f32> {
    ///     let (_, h) = (a, b).scan(0, |(a, h), (b, g)| (a * b, h * b + g));
    ///     h
    /// }
    ///
    /// /// Sums that start again at each flag.
    /// fn segmented(flags: Tile<bool>, x: Tile<f32>) -> Tile<f32> {
    ///     (flags, x).scan(0, |(p, a), (q, b)| (p | q, if q { b } else { a + b })).1
    /// }
    /// ```
    #[must_use]
    fn scan(self, axis: i32, f: impl Fn(Self::Element, Self::Element) -> Self::Element) -> Self {
        stub()
    }

    /// The elements combined with all after them along `axis`, from the last one back.
    ///
    /// It is [`Tile::scan_reverse`] of several tiles: in `f(a, b)`, `a` comes after `b` along the axis.
    ///
    /// Layout, PTX and errors: those of [`Tiles::scan`](Tiles::scan).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The gradients that flow back through `h[t] = a[t] * h[t - 1] + b[t]`: `g[t] = d[t] + a[t + 1] * g[t + 1]`.
    /// fn backward(next_a: Tile<f32>, d: Tile<f32>) -> Tile<f32> {
    ///     let (_, g) = (next_a, d).scan_reverse(0, |(a, g), (b, d)| (a * b, g * b + d));
    ///     g
    /// }
    /// ```
    #[must_use]
    fn scan_reverse(
        self,
        axis: i32,
        f: impl Fn(Self::Element, Self::Element) -> Self::Element,
    ) -> Self {
        stub()
    }

    /// What comes before each element along `axis`, combined: an exclusive scan with `f`, from `initial` on.
    ///
    /// It is [`Tile::scan_exclusive`] of several tiles, with a tuple of initial values.
    ///
    /// Layout, PTX and errors: those of [`Tiles::scan`](Tiles::scan); K0206 if `initial` is not a tuple of scalars, one for each tile,
    /// K0203 if one has another type than the elements of its tile.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The state before each step of `h[t] = a[t] * h[t - 1] + b[t]`, from the state that came before this tile.
    /// fn states_before(a: Tile<f32>, b: Tile<f32>, state: f32) -> Tile<f32> {
    ///     let (_, h) = (a, b).scan_exclusive(0, (1.0, state), |(a, h), (b, g)| (a * b, h * b + g));
    ///     h
    /// }
    /// ```
    #[must_use]
    fn scan_exclusive(
        self,
        axis: i32,
        initial: Self::Element,
        f: impl Fn(Self::Element, Self::Element) -> Self::Element,
    ) -> Self {
        stub()
    }

    /// What comes after each element along `axis`, combined from the last one back: an exclusive scan with `f`, from
    /// `initial` on.
    ///
    /// It is [`Tile::scan_reverse_exclusive`] of several tiles, with a tuple of initial values.
    ///
    /// Layout, PTX and errors: those of [`Tiles::scan_exclusive`](Tiles::scan_exclusive).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The greatest of the later elements and its position, or the least number and -1 after the last element.
    /// fn next_peak(x: Tile<f32>) -> (Tile<f32>, Tile<i32>) {
    ///     (x, arange(0, 256)).scan_reverse_exclusive(0, (f32::MIN, -1), |(a, i), (b, j)| {
    ///         if b >= a { (b, j) } else { (a, i) }
    ///     })
    /// }
    /// ```
    #[must_use]
    fn scan_reverse_exclusive(
        self,
        axis: i32,
        initial: Self::Element,
        f: impl Fn(Self::Element, Self::Element) -> Self::Element,
    ) -> Self {
        stub()
    }
}

impl<T: Scalar> Tiles for Tile<T> {
    type Element = T;
}

macro_rules! tuples {
    ($($first:ident $($part:ident)+;)*) => {$(
        impl<$first: Tiles, $($part: Tiles),+> Sealed for ($first, $($part),+) {}

        impl<$first: Tiles, $($part: Tiles),+> Tiles for ($first, $($part),+) {
            type Element = ($first::Element, $($part::Element),+);
        }
    )*};
}

tuples! {
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
}
