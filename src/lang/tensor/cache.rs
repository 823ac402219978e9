//! What the second-level cache does with the data of windows.

use super::{View, ViewMut};
use crate::lang::scalar::Scalar;
use crate::lang::stub;

impl<T: Scalar> View<T> {
    /// Brings the window into the second-level cache, and does not wait for it: a later load or copy of it takes less time.
    ///
    /// It changes no result. Elements outside the tensor are left alone. Each row of the window is brought in steps of 128 bytes, a line of the
    /// cache, from its first element on; a step whose first element is outside the tensor is left out.
    ///
    /// For a window of a tensor map, it is [`tma::prefetch`](super::super::tma::prefetch).
    ///
    /// # PTX
    /// `prefetch.global.L2`, with [`evict_last`](Self::evict_last) `prefetch.global.L2::evict_last`, one for each 128 bytes, which the threads
    /// of the block share; predicated as in [`View::load`](View::load). If no axis is known to be contiguous, one for each element. (PTX ISA,
    /// "prefetch".)
    ///
    /// # Errors
    /// K0404 for a window with [`evict_first`](Self::evict_first), K0504 for more elements than registers hold.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn weights(w: Tensor<f16, 2>, x: Tensor<f16, 2>) -> Tile<f16> {
    ///     w.tile([0, 0], [64, 64]).prefetch();
    ///     x.tile([0, 0], [64, 64]).load() // while the weights arrive
    /// }
    /// ```
    pub fn prefetch(self) {
        stub()
    }

    /// The same window, whose data the second-level cache evicts first: they are not needed again.
    ///
    /// The first-level cache does not keep what is read or written. For loads, stores, copies and atomic operations of the window.
    ///
    /// # PTX
    /// `.L1::no_allocate.L2::cache_hint` at `ld.global` and `st.global`, `.L2::cache_hint` at TMA copies, `atom` and `red`, with the
    /// policy of `createpolicy.fractional.L2::evict_first.b64` (PTX ISA, "ld", "createpolicy"). `atom.cas`, of which the loops of
    /// [atomics](super::super::atomic#ptx) are made too, takes no policy, and `cp.async` has none: of one with a policy, ptxas 13.0 makes an
    /// illegal instruction where its shared address is the same in all threads.
    ///
    /// # Errors
    /// K0404 if a priority is given twice, and for [`prefetch`](Self::prefetch).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn once(x: Tensor<f32, 1>) -> Tile<f32> {
    ///     x.tile([0], [1024]).evict_first().load()
    /// }
    /// ```
    #[must_use]
    pub fn evict_first(self) -> View<T> {
        stub()
    }

    /// The same window, whose data the second-level cache evicts last: they are needed again.
    ///
    /// PTX and errors: those of [`evict_first`](Self::evict_first), with `evict_last` and without `.L1::no_allocate`.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn table(x: Tensor<f32, 1>) -> Tile<f32> {
    ///     x.tile([0], [1024]).evict_last().load()
    /// }
    /// ```
    #[must_use]
    pub fn evict_last(self) -> View<T> {
        stub()
    }
}

impl<T: Scalar> ViewMut<T> {
    /// Brings the window into the second-level cache, and does not wait for it: a later load or copy of it takes less time.
    ///
    /// It changes no result. Elements outside the tensor are left alone. Each row of the window is brought in steps of 128 bytes, a line of the
    /// cache, from its first element on; a step whose first element is outside the tensor is left out.
    ///
    /// For a window of a tensor map, it is [`tma::prefetch`](super::super::tma::prefetch).
    ///
    /// # PTX
    /// `prefetch.global.L2`, with [`evict_last`](Self::evict_last) `prefetch.global.L2::evict_last`, one for each 128 bytes, which the threads
    /// of the block share; predicated as in [`View::load`](View::load). If no axis is known to be contiguous, one for each element. (PTX ISA,
    /// "prefetch".)
    ///
    /// # Errors
    /// K0404 for a window with [`evict_first`](Self::evict_first), K0504 for more elements than registers hold.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn next(state: TensorMut<f32, 2>, i: i32) {
    ///     state.tile([i + 1, 0], [1, 1024]).prefetch();
    ///     let row = state.tile([i, 0], [1, 1024]);
    ///     row.store(row.load() * 0.5);
    /// }
    /// ```
    pub fn prefetch(self) {
        stub()
    }

    /// The same window, whose data the second-level cache evicts first: they are not needed again.
    ///
    /// PTX and errors: those of [`View::evict_first`](View::evict_first).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn stream(out: TensorMut<f32, 1>, value: Tile<f32>) {
    ///     out.tile([0], [1024]).evict_first().store(value);
    /// }
    /// ```
    #[must_use]
    pub fn evict_first(self) -> ViewMut<T> {
        stub()
    }

    /// The same window, whose data the second-level cache evicts last: they are needed again.
    ///
    /// PTX and errors: those of [`View::evict_last`](View::evict_last).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn keep(out: TensorMut<f32, 1>, value: Tile<f32>) {
    ///     out.tile([0], [1024]).evict_last().store(value);
    /// }
    /// ```
    #[must_use]
    pub fn evict_last(self) -> ViewMut<T> {
        stub()
    }
}
