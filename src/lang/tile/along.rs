//! Scans, positions of extremes, permutations and flips of axes, pairs.

use super::Tile;
use crate::lang::scalar::{Number, Scalar};
use crate::lang::stub;
use crate::lang::tensor::Ranges;

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

/// Scans, permutations and flips of axes, pairs.
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
    #[must_use = "`permute` gives a new tile, and leaves this one as it was"]
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
    #[must_use = "`split` gives new tiles, and leaves this one as it was"]
    pub fn split(self) -> (Tile<T>, Tile<T>) {
        stub()
    }

    /// A part of the tile: the elements within a range on each axis, `x.slice((0..32, ..))`.
    ///
    /// The ranges are known at compile time. Each has a power of two of positions and begins at a multiple of that: `32..64` is a part,
    /// `16..48` is not. Parts whose places are known only at run time are windows of tensors and of shared memory.
    ///
    /// # Layout
    ///
    /// Free if each thread holds both halves of what is taken apart, in registers, as inference arranges if it can. Otherwise the tile is
    /// converted to such a layout first, whole. Elements that are in no part are not computed.
    ///
    /// # PTX
    ///
    /// None if it is free; otherwise that of a [conversion](crate::lang#conversions).
    ///
    /// # Errors
    ///
    /// K0201 for a range of another number of positions, K0205 for another number of ranges than axes, K0206 for something that is not
    /// a range, K0207 for a range that is not within the tile or does not begin at a multiple.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// `gate(x) * up(x)` of a product whose columns are both.
    /// fn gated(x: Tile<f32>) -> Tile<f32> {
    ///     let (gate, up) = (x.slice((.., 0..64)), x.slice((.., 64..128)));
    ///     gate * up
    /// }
    /// ```
    #[must_use = "`slice` gives a new tile, and leaves this one as it was"]
    pub fn slice<const R: usize>(self, ranges: impl Ranges<R>) -> Tile<T> {
        stub()
    }

    /// Two tiles of one shape as one, which is twice as long along `axis`: first the elements of `self`, then those of `other`.
    ///
    /// It undoes [`slice`](Tile::slice). A negative axis counts from the last one.
    ///
    /// # Layout
    ///
    /// Free if each thread holds elements of both, as inference arranges if it can. Otherwise both are converted first.
    ///
    /// # PTX
    ///
    /// None if it is free; otherwise `selp` by the thread, or a [conversion](crate::lang#conversions).
    ///
    /// # Errors
    ///
    /// K0202 for tiles of different shapes, K0203 for different element types, K0205 for an axis that the tiles lack, K0206 for addresses.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Rotates pairs `(a, b)` that stand half a row apart.
    /// fn rotate(x: Tile<f32>, sin: Tile<f32>, cos: Tile<f32>) -> Tile<f32> {
    ///     let (a, b) = (x.slice((.., 0..32)), x.slice((.., 32..64)));
    ///     (a * cos - b * sin).concat(b * cos + a * sin, 1)
    /// }
    /// ```
    #[must_use = "`concat` gives a new tile, and leaves this one as it was"]
    pub fn concat(self, other: Tile<T>, axis: i32) -> Tile<T> {
        stub()
    }

    /// Each element combined with all before it along `axis`: an inclusive scan with `f` (`tl.associative_scan` in
    /// Triton). The shape does not change.
    ///
    /// In `f(a, b)`, `a` comes before `b`; `f` must be associative, and need not be commutative. The closure may
    /// contain the same as in [`map`](Tile::map). [`Tiles::scan`](crate::lang::Tiles::scan) scans several tiles together.
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
    #[must_use = "`scan` gives a new tile, and leaves this one as it was"]
    pub fn scan(self, axis: i32, f: impl Fn(T, T) -> T) -> Tile<T> {
        stub()
    }

    /// Each element combined with all after it along `axis`, from the last one back: an inclusive scan with `f`
    /// (`tl.associative_scan` with `reverse=True` in Triton). The shape does not change.
    ///
    /// It is `x.flip(axis).scan(axis, f).flip(axis)`, bit for bit, without the flips: in `f(a, b)`, `a` comes *after* `b`
    /// along the axis. The order of combination is that of [`scan`](Tile::scan), counted from the last element, so that
    /// the result is the same in every layout. A reverse running sum is `x.scan_reverse(axis, |a, b| a + b)`.
    ///
    /// Layout, PTX and errors: those of [`scan`](Tile::scan).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Rewards from each step on, each step worth a little less than the one before it.
    /// fn returns(rewards: Tile<f32>, discounts: Tile<f32>) -> Tile<f32> {
    ///     (rewards * discounts).scan_reverse(0, |later, now| now + later) / discounts
    /// }
    /// ```
    #[must_use = "`scan_reverse` gives a new tile, and leaves this one as it was"]
    pub fn scan_reverse(self, axis: i32, f: impl Fn(T, T) -> T) -> Tile<T> {
        stub()
    }

    /// What comes before each element along `axis`, combined: an exclusive scan with `f`, from `initial` on. The shape
    /// does not change.
    ///
    /// The first element becomes `initial`, and each other one `f(initial, s)`, where `s` is what [`scan`](Tile::scan) has
    /// at the element before it, bit for bit and in every layout. `[1, 2, 3, 4]` gives `[10, 11, 13, 16]` for
    /// `x.scan_exclusive(0, 10, |a, b| a + b)`. `initial` is a scalar, which may be known only at run time: 0 for a sum of its own,
    /// or what an earlier tile left.
    ///
    /// # Layout
    ///
    /// That of [`scan`](Tile::scan). Each step moves the same elements between threads, and applies `f` twice.
    ///
    /// PTX and errors: those of [`scan`](Tile::scan); K0206 if `initial` is not a scalar, K0203 if it has another type.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Where each group begins, when groups of these sizes are stored one after the other.
    /// fn offsets(sizes: Tile<i32>) -> Tile<i32> {
    ///     sizes.scan_exclusive(0, 0, |a, b| a + b)
    /// }
    /// ```
    #[must_use = "`scan_exclusive` gives a new tile, and leaves this one as it was"]
    pub fn scan_exclusive(self, axis: i32, initial: T, f: impl Fn(T, T) -> T) -> Tile<T> {
        stub()
    }

    /// What comes after each element along `axis`, combined from the last one back: an exclusive scan with `f`, from
    /// `initial` on. The shape does not change.
    ///
    /// It is `x.flip(axis).scan_exclusive(axis, initial, f).flip(axis)`, bit for bit: the last element becomes `initial`.
    /// `[1, 2, 3, 4]` gives `[9, 7, 4, 0]` for `x.scan_reverse_exclusive(0, 0, |a, b| a + b)`.
    ///
    /// Layout, PTX and errors: those of [`scan_exclusive`](Tile::scan_exclusive).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// How much light reaches each layer from above, the last layer being the top.
    /// fn light(transparency: Tile<f32>) -> Tile<f32> {
    ///     transparency.scan_reverse_exclusive(0, 1.0, |a, b| a * b)
    /// }
    /// ```
    #[must_use = "`scan_reverse_exclusive` gives a new tile, and leaves this one as it was"]
    pub fn scan_reverse_exclusive(self, axis: i32, initial: T, f: impl Fn(T, T) -> T) -> Tile<T> {
        stub()
    }

    /// The elements along `axis` in reverse order; the shape does not change.
    ///
    /// `[1, 2, 3, 4]` gives `[4, 3, 2, 1]`.
    ///
    /// # Layout
    ///
    /// The result has the layout of the tile. Within a thread a flip is free; lanes and warps along the axis exchange what
    /// they hold.
    ///
    /// # PTX
    ///
    /// None for bits of the axis in the register's number; for those in the lane's number one `shfl.sync.bfly.b32` for
    /// each register (two for 64 bits, one for two halves); if warps are along the axis, `st.shared`, `bar.sync 0` and
    /// `ld.shared`.
    ///
    /// # Errors
    ///
    /// K0205 for an axis that the tile lacks, K0106 for one not known at compile time, K0501 if the scratch does not fit.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// A half turn of an image.
    /// fn turned(image: Tile<u8>) -> Tile<u8> {
    ///     image.flip(0).flip(1)
    /// }
    /// ```
    #[must_use = "`flip` gives a new tile, and leaves this one as it was"]
    pub fn flip(self, axis: i32) -> Tile<T> {
        stub()
    }
}

/// Running sums and products, and positions of extremes.
impl<T: Number> Tile<T> {
    /// The sum of each element and all before it along `axis`; the shape does not change.
    ///
    /// `[1, 2, 3, 4]` gives `[1, 3, 6, 10]`. Every addition is in `T`: integers wrap, floats round, in the order that
    /// [`scan`](Tile::scan) specifies. [`scan_exclusive`](Tile::scan_exclusive) leaves the element itself out, and
    /// [`scan_reverse`](Tile::scan_reverse) begins at the other end.
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
    #[must_use = "`cumsum` gives a new tile, and leaves this one as it was"]
    pub fn cumsum(self, axis: i32) -> Tile<T> {
        stub()
    }

    /// The product of each element and all before it along `axis`; the shape does not change.
    ///
    /// `[1, 2, 3, 4]` gives `[1, 2, 6, 24]`. Every multiplication is in `T`: integers wrap, floats round, in the order
    /// that [`scan`](Tile::scan) specifies.
    ///
    /// Layout, PTX and errors: those of [`scan`](Tile::scan), with `mul`; K0204 for masks and pointers.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The powers of a number, from the first on.
    /// fn powers(base: f32) -> Tile<f32> {
    ///     full::<f32>([64], base).cumprod(0)
    /// }
    /// ```
    #[must_use = "`cumprod` gives a new tile, and leaves this one as it was"]
    pub fn cumprod(self, axis: i32) -> Tile<T> {
        stub()
    }

    /// The index along `axis` of the greatest element; removes the axis.
    ///
    /// Of equal elements the first counts (Triton's `tie_break_left`); -0 and +0 are equal. NaN is ignored unless there
    /// is nothing else, as in [`max`](Tile::max): for only NaNs the index is 0. If another element is to count, or other
    /// values go with the greatest one, [`Tiles::reduce`](crate::lang::Tiles::reduce) takes a comparison.
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
    #[must_use = "`argmax` gives a new tile, and leaves this one as it was"]
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
    #[must_use = "`argmin` gives a new tile, and leaves this one as it was"]
    pub fn argmin(self, axis: i32) -> Tile<i32> {
        stub()
    }
}
