//! Scans, positions of extremes, permutations of axes, pairs.

use super::Tile;
use crate::lang::scalar::{Number, Scalar};
use crate::lang::stub;

/// Two tiles of one shape, stacked along a new last axis: `join(a, b)` at `(.., 0)` is `a`, at `(.., 1)` it is `b`.
///
/// `(M, N)` and `(M, N)` give `(M, N, 2)`; the operands are broadcast to one shape as in operators, and two tiles of
/// rank 0 give `(2)`. [`Tile::split`] undoes it, and `join(a, b).reshape([M, 2 * N])` interleaves columns (Triton's
/// `tl.interleave`).
///
/// # Layout
///
/// The result has the layout of the operands with one more bit of the register number, the lowest, along the new axis:
/// a thread that holds an element of both holds the pair, and no data moves. A layout that is pinned on the result may
/// put the pair into different lanes or warps; then each thread takes its own element.
///
/// # PTX
///
/// None if a thread holds the pair; otherwise `selp`, by the thread's number, and the
/// [conversion](crate::lang#conversions) of the operands.
///
/// # Errors
///
/// K0202 if the shapes do not fit, K0203 if the element types differ, K0205 if the operands already have rank 5.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Rotates pairs of neighbouring elements by angles with these sines and cosines.
/// fn rotate(x: Tile<f32>, sin: Tile<f32>, cos: Tile<f32>) -> Tile<f32> {
///     let (even, odd) = x.reshape([16, 32, 2]).split();
///     join(even * cos - odd * sin, even * sin + odd * cos).reshape([16, 64])
/// }
/// ```
#[must_use]
pub fn join<T: Scalar>(a: Tile<T>, b: Tile<T>) -> Tile<T> {
    stub()
}

/// Scans, permutations of axes, pairs.
impl<T: Scalar> Tile<T> {
    /// The axes in another order: axis `i` of the result is axis `order[i]` of the tile.
    ///
    /// `(L, M, N)` gives `(N, L, M)` with `permute([2, 0, 1])`: element `(k, i, j)` of the result is
    /// element `(i, j, k)` of the tile. `order` names each axis once and is known at compile time.
    /// [`t`](Tile::t) is `permute([1, 0])`.
    ///
    /// # Layout
    ///
    /// Each thread keeps what it holds, under other coordinates. Data moves only if another operation needs the result
    /// in another layout, as a store along the new last axis may.
    ///
    /// # PTX
    ///
    /// None, except that [conversion](crate::lang#conversions).
    ///
    /// # Errors
    ///
    /// K0205 if `order` leaves an axis out, names one twice, or names one that the tile lacks.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// From (batch, height, width, channel) to (batch, channel, height, width).
    /// fn channels_first(x: Tile<f16>) -> Tile<f16> {
    ///     x.permute([0, 3, 1, 2])
    /// }
    /// ```
    #[must_use]
    pub fn permute<const RANK: usize>(self, order: [i32; RANK]) -> Tile<T> {
        stub()
    }

    /// The two halves of pairs: for shape `(.., 2)`, the elements at `(.., 0)` and those at `(.., 1)`, without the last
    /// axis.
    ///
    /// It undoes [`join`]. A tile of shape `(2)` gives two tiles of rank 0.
    ///
    /// # Layout
    ///
    /// Free if each thread holds whole pairs, as after `join`, and as inference arranges if it can. Otherwise the pairs
    /// are brought together first.
    ///
    /// # PTX
    ///
    /// None if it is free; otherwise that of a [conversion](crate::lang#conversions). A tile of shape `(2)` is split by
    /// two [reductions](Tile#reductions).
    ///
    /// # Errors
    ///
    /// K0202 if the last extent is not 2.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// |z|² of complex numbers that are stored as (re, im) pairs.
    /// fn square_magnitudes(z: Tile<f32>) -> Tile<f32> {
    ///     let (re, im) = z.reshape([128, 2]).split();
    ///     re * re + im * im
    /// }
    /// ```
    #[must_use]
    pub fn split(self) -> (Tile<T>, Tile<T>) {
        stub()
    }

    /// Each element combined with all before it along `axis`: an inclusive scan with `f` (`tl.associative_scan` in
    /// Triton). The shape does not change.
    ///
    /// In `f(a, b)`, `a` comes before `b`; `f` must be associative, and need not be commutative. The closure may
    /// contain the same as in [`map`](Tile::map).
    ///
    /// # Order
    ///
    /// Floats round, so the order matters, and it is specified: neighbouring runs are joined in pairs, first runs of
    /// one element, then of two, of four, and so on; joining two runs combines the last element of the first with each
    /// element of the second. The last of eight elements is `((x0 x1) (x2 x3)) ((x4 x5) (x6 x7))`, the one before it
    /// `((x0 x1) (x2 x3)) ((x4 x5) x6)`. So the result is the same, bit for bit, in every layout and with any number of
    /// warps, and the rounding error of a running sum grows with the logarithm of the extent.
    ///
    /// # Layout
    ///
    /// The result has the layout of the tile. Each step along the axis belongs to one bit of the position: a register
    /// bit costs only `f`, a lane bit a shuffle (`shfl.sync.idx`), a warp bit a round trip through shared memory with a
    /// barrier. Inference keeps the axis within warps if it can.
    ///
    /// # PTX
    ///
    /// The operations of `f`; for each bit of the axis in the lane's number `shfl.sync.idx.b32` and a `selp`; for each
    /// in the warp's number `st.shared`, `bar.sync 0` and `ld.shared`, with one element of each pair of runs in
    /// scratch.
    ///
    /// # Errors
    ///
    /// K0205 for an axis that the tile lacks, K0203 if `f` does not give the type that it takes, K0206 if it does more
    /// than arithmetic.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The largest element so far in each row.
    /// fn running_maximum(x: Tile<f32>) -> Tile<f32> {
    ///     x.scan(1, |a, b| a.max(b))
    /// }
    /// ```
    #[must_use]
    pub fn scan(self, axis: i32, f: impl Fn(T, T) -> T) -> Tile<T> {
        stub()
    }
}

/// Running sums, and positions of extremes.
impl<T: Number> Tile<T> {
    /// The sum of each element and all before it along `axis`; the shape does not change.
    ///
    /// `[1, 2, 3, 4]` gives `[1, 3, 6, 10]`. Every addition is in `T`: integers wrap, floats round, in the order that
    /// [`scan`](Tile::scan) specifies. For an exclusive sum, subtract the element: `x.cumsum(0) - x` (exact for
    /// integers).
    ///
    /// Layout, PTX and errors: those of [`scan`](Tile::scan), with `add`; K0204 for masks and pointers.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Where each kept element goes when the others are dropped.
    /// fn compacted(keep: Tile<bool>) -> Tile<i32> {
    ///     let kept = select(keep, full::<i32>([256], 1), 0);
    ///     kept.cumsum(0) - kept
    /// }
    /// ```
    #[must_use]
    pub fn cumsum(self, axis: i32) -> Tile<T> {
        stub()
    }

    /// The index along `axis` of the greatest element; removes the axis.
    ///
    /// Of equal elements the first counts (Triton's `tie_break_left`); -0 and +0 are equal. NaN is ignored unless there
    /// is nothing else, as in [`max`](Tile::max): for only NaNs the index is 0.
    ///
    /// # Layout
    ///
    /// The reduction is over pairs of an element and its index, so the layout is that of the other reductions: the
    /// tile's, without the axis.
    ///
    /// PTX and errors: [reductions](Tile#reductions). The comparison of two pairs is `setp`, `and.pred`, `or.pred` and
    /// two `selp`.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The most likely class of each row.
    /// fn predicted(logits: Tile<f32>) -> Tile<i32> {
    ///     logits.argmax(1)
    /// }
    /// ```
    #[must_use]
    pub fn argmax(self, axis: i32) -> Tile<i32> {
        stub()
    }

    /// The index along `axis` of the least element; removes the axis.
    ///
    /// Of equal elements the first counts; -0 and +0 are equal. NaN is ignored unless there is nothing else, as in
    /// [`min`](Tile::min): for only NaNs the index is 0.
    ///
    /// Layout, PTX and errors: [reductions](Tile#reductions).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The nearest of the centres, given the distance of each row to each of them.
    /// fn nearest(distances: Tile<f32>) -> Tile<i32> {
    ///     distances.argmin(1)
    /// }
    /// ```
    #[must_use]
    pub fn argmin(self, axis: i32) -> Tile<i32> {
        stub()
    }
}
