//! Windows of listed rows.

use super::{Tensor, TensorMap, TensorMapMut, TensorMut, View, ViewMut};
use crate::lang::scalar::Scalar;
use crate::lang::stub;
use crate::lang::tile::Tile;

impl<T: Scalar, const R: usize> Tensor<T, R> {
    /// The window of the rows that `rows` lists: its row `i` is row `at[0] + rows[i]` of the tensor, a sum that wraps in 32 bits. On the
    /// other axes it begins at `at`.
    ///
    /// A row is what an index on the first axis names: a line of a matrix, a page of a cache. `rows` has any order, and may be loaded from
    /// a list in memory; `shape[0]` is its length. What lies outside the tensor, on any axis, reads as zero and accesses no memory: so -1
    /// stands for a row of zeros. The launch is as safe as that of a kernel with windows of adjacent rows alone.
    ///
    /// The window is loaded, and copied into shared memory by [`copy_async`](crate::lang::copy_async). In a loop along the columns, load `rows`
    /// before it. On Blackwell [`tma::gather`](crate::lang::tma::gather) gathers rows by TMA copies.
    ///
    /// # Layout
    /// `rows` is brought to the layout of the window's first axis.
    ///
    /// # PTX
    /// None: [`load`](View::load) and [`copy_async`](crate::lang::copy_async) access the addresses, computed from the strides, where a mask holds.
    ///
    /// # Errors
    /// K0206, K0205 and K0203 if `rows` is not a tile of `i32` with one axis, K0202 if `shape[0]` is not its length, K0204 for a tensor of pointers,
    /// K0504 for a window with too many elements; those of [`tile`](Tensor::tile).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Embeddings of 16 tokens.
    /// fn embeddings(table: Tensor<f16, 2>, tokens: Tensor<i32, 1>, i: i32) -> Tile<f16> {
    ///     let rows = tokens.tile([i * 16], [16]).load();
    ///     table.tile_rows(rows, [0, 0], [16, 128]).load()
    /// }
    /// ```
    pub fn tile_rows(self, rows: Tile<i32>, at: [i32; R], shape: [i32; R]) -> View<T> {
        stub()
    }
}

impl<T: Scalar, const R: usize> TensorMut<T, R> {
    /// The window of the rows that `rows` lists: its row `i` is row `at[0] + rows[i]` of the tensor. On the other axes it begins at `at`.
    ///
    /// Like [`Tensor::tile_rows`]; what is written outside the tensor is dropped. If a store lists a row more than once, each of its elements is
    /// one of those written. The window has no atomic operations, no prefetch and no priority in the cache (K0416).
    ///
    /// # PTX
    /// None: [`load`](ViewMut::load), [`store`](ViewMut::store) and [`copy_async`](crate::lang::copy_async) access the addresses where a mask holds.
    ///
    /// # Errors
    /// Those of [`Tensor::tile_rows`].
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Rows go back to where they came from.
    /// fn scatter(out: TensorMut<f32, 2>, rows: Tile<i32>, values: Tile<f32>) {
    ///     out.tile_rows(rows, [0, 0], [16, 128]).store(values);
    /// }
    /// ```
    pub fn tile_rows(self, rows: Tile<i32>, at: [i32; R], shape: [i32; R]) -> ViewMut<T> {
        stub()
    }
}

macro_rules! listed {
    ($($name:ident $view:ident),*) => {$(
        impl<T: Scalar, const R: usize> $name<T, R> {
            /// The window of listed rows, as for a tensor without a map.
            ///
            /// PTX and errors: those of [`Tensor::tile_rows`](Tensor::tile_rows).
            ///
            /// ```no_run
            /// use kiln::prelude::*;
            ///
            #[doc = concat!("fn rows(x: ", stringify!($name), "<f32, 2>, rows: Tile<i32>) -> Tile<f32> {")]
            ///     x.tile_rows(rows, [0, 0], [16, 16]).load()
            /// }
            /// ```
            pub fn tile_rows(self, rows: Tile<i32>, at: [i32; R], shape: [i32; R]) -> $view<T> {
                stub()
            }
        }
    )*};
}

listed!(TensorMap View, TensorMapMut ViewMut);
