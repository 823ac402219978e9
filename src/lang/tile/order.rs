//! Sorts, largest elements, elements at indices, counts of values.

use super::Tile;
use crate::lang::integer::Int;
use crate::lang::scalar::{Number, Scalar};
use crate::lang::stub;

/// [Sorts](Tile#sorts), and the largest elements.
impl<T: Number> Tile<T> {
    /// The elements of each line along `axis` in ascending order; the shape does not change.
    ///
    /// `[3.0, NaN, 1.0, 2.0]` gives `[1.0, 2.0, 3.0, NaN]` (`numpy.sort`, `torch.sort`).
    ///
    /// Order, layout, PTX and errors: [sorts](Tile#sorts).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The median of each row of 64 elements: the mean of the two in the middle.
    /// fn median(x: Tile<f32>) -> Tile<f32> {
    ///     let sorted = x.sort(1);
    ///     let middle = arange(0, 64);
    ///     select((middle.eq(31) | middle.eq(32)).expand(0), sorted * 0.5, 0.0).sum(1)
    /// }
    /// ```
    #[must_use = "`sort` gives a new tile, and leaves this one as it was"]
    pub fn sort(self, axis: i32) -> Tile<T> {
        stub()
    }

    /// The elements of each line along `axis` in descending order; the shape does not change.
    ///
    /// `[3.0, NaN, 1.0, 2.0]` gives `[3.0, 2.0, 1.0, NaN]`: NaN comes last here too, so that this is not
    /// [`sort`](Tile::sort) and [`flip`](Tile::flip).
    ///
    /// Order, layout, PTX and errors: [sorts](Tile#sorts). A `not.b32` before and after.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The smallest set of tokens with a probability of more than `p` together, as a mask of the sorted probabilities.
    /// fn nucleus(probabilities: Tile<f32>, p: f32) -> Tile<bool> {
    ///     let sorted = probabilities.sort_descending(1);
    ///     (sorted.cumsum(1) - sorted).le(p)
    /// }
    /// ```
    #[must_use = "`sort_descending` gives a new tile, and leaves this one as it was"]
    pub fn sort_descending(self, axis: i32) -> Tile<T> {
        stub()
    }

    /// The indices along `axis` that sort each line in ascending order: `x.gather(axis, x.argsort(axis))` is sorted.
    ///
    /// `[3, 1, 2, 1]` gives `[1, 3, 2, 0]`: of equal elements the one with the lower index comes first (`numpy.argsort` with `kind='stable'`).
    ///
    /// Order, layout, PTX and errors: [sorts](Tile#sorts).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Tokens in the order of their experts, those of one expert in the order in which they are.
    /// fn by_expert(tokens: Tile<i32>, experts: Tile<i32>) -> Tile<i32> {
    ///     tokens.gather(0, experts.argsort(0))
    /// }
    /// ```
    #[must_use = "`argsort` gives a new tile, and leaves this one as it was"]
    pub fn argsort(self, axis: i32) -> Tile<i32> {
        stub()
    }

    /// The indices along `axis` that sort each line in descending order.
    ///
    /// `[3, 1, 2, 1]` gives `[0, 2, 1, 3]`: of equal elements the one with the lower index comes first, as in [`argsort`](Tile::argsort), so that this
    /// is not its [`flip`](Tile::flip).
    ///
    /// Order, layout, PTX and errors: [sorts](Tile#sorts).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The place of each element in the ranking of its row, 0 for the greatest.
    /// fn rank(x: Tile<f32>) -> Tile<i32> {
    ///     x.argsort_descending(1).argsort(1)
    /// }
    /// ```
    #[must_use = "`argsort_descending` gives a new tile, and leaves this one as it was"]
    pub fn argsort_descending(self, axis: i32) -> Tile<i32> {
        stub()
    }

    /// The `k` greatest elements of each line along `axis`, the greatest first, and their indices (`torch.topk`, `jax.lax.top_k`).
    ///
    /// `k` is a power of two, known at compile time, and at most the extent of `axis`; in both results that axis has the extent `k`. Of equal elements
    /// the one with the lower index comes first; NaN comes last, so that `x.top_k(1, axis)` is [`max`](Tile::max) and, but for zeros of both signs,
    /// [`argmax`](Tile::argmax). `[3, 1, 2, 3]` gives `([3, 3], [0, 3])` for `x.top_k(2, 0)`. Of other numbers of elements take more, and leave the
    /// last ones out.
    ///
    /// It costs less than a sort: runs of `k` elements are sorted, and of two runs the greater half is kept, until one is left.
    ///
    /// Order, layout, PTX and errors: [sorts](Tile#sorts). K0201 if `k` is not a power of two, K0202 if it is more than the extent, K0106 if it
    /// is known only at run time.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The two experts of each token, and their weights.
    /// fn routed(logits: Tile<f32>) -> (Tile<f32>, Tile<i32>) {
    ///     let (best, experts) = logits.top_k(2, 1);
    ///     let weights = (best - best.max(1).expand(1)).exp();
    ///     (weights / weights.sum(1).expand(1), experts)
    /// }
    /// ```
    #[must_use = "`top_k` gives new tiles, and leaves this one as it was"]
    pub fn top_k(self, k: i32, axis: i32) -> (Tile<T>, Tile<i32>) {
        stub()
    }
}

/// Elements at indices.
impl<T: Scalar> Tile<T> {
    /// The elements along `axis` at `indices` (`torch.gather`, `tl.gather`, `numpy.take_along_axis`).
    ///
    /// Element `(i, j)` of `x.gather(1, indices)` is `x` at `(i, indices(i, j))`. The result has the shape of `indices`, which is that of the tile but
    /// for the extent of `axis`. An index that is negative, or not less than the extent, gives zero. The check of an index, `setp.lt.u32`, is left
    /// out if the text proves it in range, like `i & 31` and the ends of `arange` do. [`Shared::gather`](crate::lang::Shared::gather) reads shared
    /// memory at indices, [`load`](crate::lang::load) global memory at addresses.
    ///
    /// # Layout
    ///
    /// The result has the layout of the indices. If the lanes of each warp hold whole lines of the tile, four registers of a line at most, and the lines
    /// of the indices too, elements move by shuffles; otherwise through shared memory, in row-major order.
    ///
    /// # PTX
    ///
    /// By shuffles, for each register of the result one `shfl.sync.idx.b32` for each register of a line (two for 64 bits), and `selp` between them;
    /// a line in the registers of one thread takes the `selp` alone. Otherwise `st.shared`, `bar.sync 0` and `@%p0 ld.shared`.
    ///
    /// # Errors
    ///
    /// K0205 for an axis that the tile lacks, K0106 for one not known at compile time, K0202 if the extents do not fit, K0203 for indices that are not
    /// `i32`, K0206 for a scalar and for a tile of pointers, K0501 if the scratch does not fit, K0504 for more indices than registers hold.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The logit of each row's target.
    /// fn of_target(logits: Tile<f32>, targets: Tile<i32>) -> Tile<f32> {
    ///     logits.gather(1, targets.expand(1)).reshape([64])
    /// }
    /// ```
    #[must_use]
    #[doc(alias = "take_along_axis")]
    pub fn gather(self, axis: i32, indices: Tile<i32>) -> Tile<T> {
        stub()
    }
}

/// Counts of values.
impl<T: Int> Tile<T> {
    /// How many elements are 0, 1, and so on, up to `bins - 1`: a tile of shape `[bins]` (`tl.histogram`, `numpy.bincount`).
    ///
    /// All elements of the tile are counted, whatever its rank. Those below zero and those that are not less than `bins` are not counted. `bins` is a
    /// power of two, known at compile time.
    ///
    /// # Layout
    ///
    /// The tile is counted in the layout that it has; of several threads that hold an element one counts it.
    ///
    /// # PTX
    ///
    /// `st.shared` of zeros, `bar.sync 0`, `@%p0 red.shared.add.s32` for each element, `bar.sync 0`, `ld.shared`. The more elements are equal, the
    /// longer the additions wait for each other.
    ///
    /// # Errors
    ///
    /// K0204 for floats, masks and pointers, K0201 if `bins` is not a power of two, K0106 if it is known only at run time, K0205 for rank 0, K0501 if
    /// the scratch does not fit, K0504 for more bins than registers hold.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// How many tokens each of 64 experts gets.
    /// fn load_of_experts(experts: Tile<i32>) -> Tile<i32> {
    ///     experts.histogram(64)
    /// }
    /// ```
    #[must_use]
    #[doc(alias = "bincount")]
    pub fn histogram(self, bins: i32) -> Tile<i32> {
        stub()
    }
}
