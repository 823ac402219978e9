//! Tensors in global memory, and windows of them.

use core::marker::PhantomData;
use core::ops::{Range, RangeFrom, RangeFull, RangeTo};

mod cache;
mod ordered;
mod rows;

use super::pointer::Ptr;
use super::scalar::Scalar;
use super::stub;
use super::tile::Tile;

/// A tensor in global memory that the kernel reads: a parameter of the kernel.
///
/// `R` is the rank, 1 to 5. The caller passes a reference to a device tensor; element type, rank, extents and strides
/// are checked at launch. Nothing writes the tensor while the kernel runs.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn first_rows(x: Tensor<f32, 2>) -> Tile<f32> {
///     x.tile([0, 0], [16, 64]).load()
/// }
/// ```
pub struct Tensor<T, const R: usize>(PhantomData<T>);

/// A tensor in global memory that the kernel writes, and may read: a parameter of the kernel.
///
/// The caller passes a mutable reference, so no other argument names the same memory. A block reads and writes it in
/// the order of the program: the compiler inserts a barrier where windows overlap and other threads may have accessed
/// them before. Blocks of one launch are not ordered: they write different elements, or use [`atomic`](super::atomic)
/// operations.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn clear(x: TensorMut<f32, 2>) {
///     x.tile([block_id(0) * 64, block_id(1) * 64], [64, 64]).store(zeros([64, 64]));
/// }
/// ```
pub struct TensorMut<T, const R: usize>(PhantomData<T>);

/// A tensor in global memory that TMA reads through a tensor map: a parameter of the kernel, for `sm_90a` and later.
///
/// `#[block(BM, BK)] x: TensorMap<f16, 2>` says which block one copy moves. The caller passes a reference to a device tensor, as for
/// [`Tensor`]; the launch encodes the map. Its last axis is contiguous, its address and other strides are multiples of 16 bytes.
///
/// After the extents of the block, `#[block(..)]` takes options of the map (CUDA driver API, `cuTensorMapEncodeTiled`):
///
/// | option | meaning | without it |
/// |---|---|---|
/// | `swizzle = 64` | tiles in shared memory have this swizzle: 0, 32, 64 or 128 bytes; a tile pinned to another one is K0409 | the map follows the tile |
/// | `fill = nan` | a load fills elements outside the tensor with NaN; for float types of 16 bits and more | `zero` |
/// | `l2_promotion = 128` | a load brings at least this many bytes into the second-level cache, as far as rows begin at multiples of it: 0, 64, 128 or 256 | 256 |
/// | `element_strides = [2, 1]` | a load takes every second row: steps of 1 to 8 along each axis, 1 along the last | every element |
/// | `filter = [3, 3]` | a load goes over the [places of a filter](#filters) with these taps | boxes of the tensor |
/// | `stride = [2, 2]` | the elements from one place of the filter to the next, 1 to 8 | 1 |
/// | `padding = [1, 1]` | how far the filter reaches beyond the tensor, on either side | 0 |
/// | `dilation = [1, 1]` | the elements from one tap of the filter to the next | 1 |
///
/// With element strides, the block says what is copied: `#[block(64, 64, element_strides = [2, 1])]` loads 64 rows out
/// of 127. The corner is still a position in the tensor. Element strides are for maps that are only read.
/// `x.at(..).load()`, which reads into registers without a copy, does not use the map: it reads every element, and
/// zeros outside.
///
/// # Filters
/// A map with a `filter` loads what a convolution needs (im2col), without a copy of the tensor in that form. The tensor has an axis of images,
/// one to three axes along which the filter moves, and an axis of channels: `[n, h, w, c]`, say. A copy has other axes: a place of the
/// filter, a tap along each axis of the filter, and a channel. Row `i` of the tile `x.at([place, r, s, c])` has the channels from `c` on of the
/// element under tap `[r, s]`, where the filter is at `place + i`.
///
/// Along an axis of `h` elements the filter has `(h + 2 * padding - dilation * (filter - 1) - 1) / stride + 1` places: the first tap is
/// `padding` elements before the first element at place 0, and `stride` elements further at each next one. The number of a place counts all
/// of them, those along the last axis first, and goes on in the next image. Elements outside of their image are zero, or what the map
/// fills with, and so are those of places before the first image and after the last one.
///
/// The extents of the block are up to 1024 places, one tap along each axis, and channels. Taps are 0 to `filter - 1`. If the compiler knows
/// that one is outside of the filter, it refuses the copy (K0409). If it does not, such a copy reads elements of the tensor, and it is not
/// defined which; the emulator stops at taps that no tensor map reaches. The launch checks that there is a place along each axis.
/// [`dim`](Self::dim), [`tile`](Self::tile) and [`slice`](Self::slice) are those of the tensor as it is.
///
/// A filter reaches no further than a map can say: `padding` up to 2^15 elements for tensors of rank 3, 128 for rank 4, 16 for rank 5, and
/// `dilation * (filter - 1)` up to that many more than `padding`.
///
/// A convolution is a product with as many steps as there are taps and blocks of channels:
///
/// ```no_run
/// use kiln::prelude::*;
///
/// #[kernel(target = sm_90a, warps = 4, grid = cdiv(y.dim(0), 64))]
/// fn convolve(
///     #[block(64, 1, 1, 64, filter = [3, 3], stride = [2, 2], padding = [1, 1])] x: TensorMap<bf16, 4>,
///     #[block(64, 1, 1, 64)] weights: TensorMap<bf16, 4>,
///     y: TensorMut<f32, 2>,
/// ) {
///     let place = block_id(0) * 64;
///     let (a, b) = (shared::<bf16>([64, 64]), shared::<bf16>([64, 64]));
///     let mut acc = zeros::<f32>([64, 64]);
///     for step in pipeline(range(0, 9 * cdiv(x.dim(3), 64), 1), 3) {
///         let (r, s, c) = (step % 9 / 3, step % 3, step / 9 * 64);
///         copy_async(x.at([place, r, s, c]), a);
///         copy_async(weights.at([0, r, s, c]), b);
///         acc = dot(a, b.t(), acc);
///     }
///     y.tile([place, 0], [64, 64]).store(acc);
/// }
/// ```
///
/// # Instructions
/// One instruction copies a block wider than its swizzle if the extents of the tensor are multiples of the swizzle,
/// which the launch checks; otherwise several instructions do.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn fetch(x: TensorMap<f16, 2>, full: Barrier, to: Shared<f16>) {
///     full.expect(x.block_bytes());
///     tma::load(x, [0, 0], full, to);
/// }
/// ```
///
/// Every second row, in the swizzle of 64 bytes:
///
/// ```no_run
/// use kiln::prelude::*;
///
/// #[kernel(target = sm_90a, warps = 1, grid = 1)]
/// fn every_second_row(
///     #[block(64, 64, swizzle = 64, element_strides = [2, 1])] x: TensorMap<f16, 2>,
///     y: TensorMut<f16, 2>,
/// ) {
///     let staged = shared::<f16>([64, 64]);
///     let full = barrier(1);
///     full.expect(x.block_bytes());
///     tma::load(x, [0, 0], full, staged);
///     full.wait(0);
///     y.tile([0, 0], [64, 64]).store(staged.load());
/// }
/// ```
pub struct TensorMap<T, const R: usize>(PhantomData<T>);

/// A tensor in global memory that TMA writes, and may read, through a tensor map: a parameter of the kernel, for
/// `sm_90a` and later.
///
/// Like [`TensorMap`]; the caller passes a mutable reference.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn write(x: TensorMapMut<f16, 2>, staged: Shared<f16>) {
///     tma::store(x, [0, 0], staged);
/// }
/// ```
pub struct TensorMapMut<T, const R: usize>(PhantomData<T>);

/// A window of a [`Tensor`], from [`Tensor::tile`].
///
/// [`load`](View::load) reads it into registers, [`copy_async`](super::copy_async) copies it to shared memory.
pub struct View<T>(PhantomData<T>);

/// A window of a [`TensorMut`], from [`TensorMut::tile`].
pub struct ViewMut<T>(PhantomData<T>);

handles!(
    Tensor<T, const R: usize>,
    TensorMut<T, const R: usize>,
    TensorMap<T, const R: usize>,
    TensorMapMut<T, const R: usize>,
    View<T>,
    ViewMut<T>
);

macro_rules! tensors {
    ($($name:ident),*) => {$(
        impl<T: Scalar, const R: usize> $name<T, R> {
            /// The extent of axis `axis`, in elements: known at launch, not at compile time.
            ///
            /// # PTX
            /// `ld.param.u32`, once for a kernel; nothing if it is not needed.
            ///
            /// # Errors
            /// K0205 for an axis that the tensor lacks.
            ///
            /// ```no_run
            /// use kiln::prelude::*;
            ///
            #[doc = concat!("fn columns(x: ", stringify!($name), "<f32, 2>) -> i32 {")]
            ///     x.dim(1)
            /// }
            /// ```
            #[must_use]
            pub fn dim(self, axis: usize) -> i32 {
                stub()
            }

            /// All extents, in elements.
            ///
            /// PTX and errors: those of [`dim`](Self::dim) for each axis.
            ///
            /// ```no_run
            /// use kiln::prelude::*;
            ///
            #[doc = concat!("fn elements(x: ", stringify!($name), "<f32, 2>) -> i32 {")]
            ///     let [rows, columns] = x.dims();
            ///     rows * columns
            /// }
            /// ```
            #[must_use]
            pub fn dims(self) -> [i32; R] {
                stub()
            }

            /// The distance between neighbours on axis `axis`, in elements.
            ///
            /// A compile-time constant if the parameter's `#[stride(..)]` attribute gives it.
            ///
            /// # PTX
            /// `ld.param.u64`, or a constant if the stride is known.
            ///
            /// # Errors
            /// K0205 for an axis that the tensor lacks.
            ///
            /// ```no_run
            /// use kiln::prelude::*;
            ///
            #[doc = concat!("fn row(x: ", stringify!($name), "<f32, 2>, i: i32) -> Ptr<f32> {")]
            ///     x.ptr() + i64::from(i) * x.stride(0)
            /// }
            /// ```
            #[must_use]
            pub fn stride(self, axis: usize) -> i64 {
                stub()
            }

            /// The address of the element at the origin.
            ///
            /// Accesses through it are not checked against the tensor's extents, so the launch is unsafe. For a
            /// read-only `Tensor` the compiler refuses stores and atomics through it (K0401), however the address is
            /// passed on. A stride may be larger than the row, so an element's address is the sum of index times
            /// [`stride`](Self::stride) over the axes.
            ///
            /// # PTX
            /// `ld.param.u64`, `cvta.to.global.u64`.
            ///
            /// # Errors
            /// K0204 for a tensor of pointers; K0401 for a write through the address of a `Tensor`; K0602 if a device
            /// function takes the address of a tensor and the kernel's own code does not show it.
            ///
            /// ```no_run
            /// use kiln::prelude::*;
            ///
            #[doc = concat!("fn corner(x: ", stringify!($name), "<f32, 2>) -> f32 {")]
            ///     load(x.ptr())
            /// }
            /// ```
            #[must_use]
            pub fn ptr(self) -> Ptr<T> {
                stub()
            }
        }
    )*};
}

tensors!(Tensor, TensorMut, TensorMap, TensorMapMut);

macro_rules! maps {
    ($($name:ident $view:ident),*) => {$(
        impl<T: Scalar, const R: usize> $name<T, R> {
            /// The block whose corner is `at`: a window with the extents of the map's block.
            ///
            /// If the map has a [filter](TensorMap#filters), `at` is a place of it, a tap along each of its axes, and a channel.
            ///
            /// PTX and errors: those of [`Tensor::tile`](Tensor::tile).
            ///
            /// ```no_run
            /// use kiln::prelude::*;
            ///
            #[doc = concat!("fn fetch(x: ", stringify!($name), "<f16, 2>, i: i32, full: Barrier, to: Shared<f16>) {")]
            ///     copy_async(x.at([i, 0]), to).on(full);
            /// }
            /// ```
            pub fn at(self, at: [i32; R]) -> $view<T> {
                stub()
            }

            /// The extents of the block; known at compile time.
            ///
            /// # PTX
            /// None: a constant.
            ///
            /// # Errors
            /// None.
            ///
            /// ```no_run
            /// use kiln::prelude::*;
            ///
            #[doc = concat!("fn rows(x: ", stringify!($name), "<f16, 2>) -> i32 {")]
            ///     let [rows, _] = x.block();
            ///     rows
            /// }
            /// ```
            #[must_use]
            pub fn block(self) -> [i32; R] {
                stub()
            }

            /// The bytes of the block, which a copy counts on its barrier; known at compile time.
            ///
            /// # PTX
            /// None: a constant.
            ///
            /// # Errors
            /// None.
            ///
            /// ```no_run
            /// use kiln::prelude::*;
            ///
            #[doc = concat!("fn announce(x: ", stringify!($name), "<f16, 2>, full: Barrier) {")]
            ///     full.expect(x.block_bytes());
            /// }
            /// ```
            #[must_use]
            pub fn block_bytes(self) -> i32 {
                stub()
            }
        }
    )*};
}

maps!(TensorMap View, TensorMapMut ViewMut);

impl<T: Scalar, const R: usize> Tensor<T, R> {
    /// The window that begins at element `at` and has the extents `shape`.
    ///
    /// `at` is any scalar position, even outside the tensor; `shape` is known at compile time, and each extent is a
    /// power of two. The window may cross the tensor's edges on either side: reads there give zero and access no
    /// memory. Each axis is checked by itself, so a window that passes the end of a row does not read the next row.
    ///
    /// # PTX
    /// None: [`load`](View::load) and [`copy_async`](super::copy_async) form the addresses.
    ///
    /// # Errors
    /// K0205 if `at` or `shape` does not have one entry for each axis, K0206 for a position that is not an `i32`, K0106
    /// and K0201 for the shape.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn load_block(x: Tensor<f16, 2>, i: i32, j: i32) -> Tile<f16> {
    ///     x.tile([i * 64, j * 32], [64, 32]).load()
    /// }
    /// ```
    pub fn tile(self, at: [i32; R], shape: [i32; R]) -> View<T> {
        stub()
    }
}

impl<T: Scalar, const R: usize> TensorMut<T, R> {
    /// The window that begins at element `at` and has the extents `shape`.
    ///
    /// Like [`Tensor::tile`]; writes outside the tensor are dropped.
    ///
    /// # PTX
    /// None: [`load`](ViewMut::load), [`store`](ViewMut::store) and [`copy_async`](super::copy_async) form the addresses.
    ///
    /// # Errors
    /// K0205 if `at` or `shape` does not have one entry for each axis, K0206 for a position that is not an `i32`, K0106
    /// and K0201 for the shape.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn store_block(x: TensorMut<f16, 2>, i: i32, j: i32, value: Tile<f16>) {
    ///     x.tile([i * 64, j * 32], [64, 32]).store(value);
    /// }
    /// ```
    pub fn tile(self, at: [i32; R], shape: [i32; R]) -> ViewMut<T> {
        stub()
    }
}

macro_rules! windows {
    ($($name:ident $view:ident),*) => {$(
        impl<T: Scalar, const R: usize> $name<T, R> {
            /// The window that begins at element `at` and has the extents `shape`, as for a tensor without a map.
            ///
            /// PTX and errors: those of [`Tensor::tile`](Tensor::tile).
            ///
            /// ```no_run
            /// use kiln::prelude::*;
            ///
            #[doc = concat!("fn corner(x: ", stringify!($name), "<f32, 2>) -> Tile<f32> {")]
            ///     x.tile([0, 0], [16, 16]).load()
            /// }
            /// ```
            pub fn tile(self, at: [i32; R], shape: [i32; R]) -> $view<T> {
                stub()
            }
        }
    )*};
}

windows!(TensorMap View, TensorMapMut ViewMut);

macro_rules! slices {
    ($($name:ident),*) => {$(
        impl<T: Scalar, const R: usize> $name<T, R> {
            /// The part of the tensor within `ranges`, one range for each axis, as a tensor of its own.
            ///
            /// Its origin is where the ranges begin, and its extents are their lengths: [`dim`](Self::dim) gives these. Windows
            /// of it read zero outside it and drop what is written there, even where the tensor goes on. `..` takes the whole axis.
            /// Of a tensor of rank 1, the range stands alone: `x.slice(0..n)`.
            ///
            /// The bounds are any `i32`, known when the kernel runs: the length of a sequence, the rows of an expert. What is
            /// outside the tensor is cut off, and a range that ends before it begins is empty. So a slice never reaches
            /// beyond its tensor, and a slice of a slice never beyond that slice.
            ///
            /// # TMA copies
            /// [TMA copies](super::tma) are bounded like all other accesses: outside its slice a load reads zero, or what the map
            /// fills with, and a store is dropped. The coordinates of the copy say where the slice ends; the map stays as it is. Such a copy
            /// * takes the whole of the innermost axis: its range is `..`;
            /// * does not begin before its slice, on a bounded axis along which the tile has several elements. If the
            ///   compiler cannot prove that the position is 0 or more, it is asserted; `i.max(0)` is proof;
            /// * takes one of the five dimensions of a tensor map for each such axis.
            ///
            /// Copies by a [filter](TensorMap#filters), and of rows by [their numbers](super::tma::gather), do not take slices.
            ///
            /// # PTX
            /// `min.s32` and `max.s32` for each bound. Accesses compare with the bounds in place of the extents. TMA copies clip the
            /// end of the tile with `min.u32` and `min.s32`.
            ///
            /// # Errors
            /// K0205 if there is not one range for each axis, K0206 for what is not a range, and for bounds that are not `i32`,
            /// K0404 for a copy by a filter or of rows by their numbers, K0409 for a TMA copy of a part of the innermost axis, and for
            /// one whose map would have more than five dimensions.
            ///
            /// ```no_run
            /// use kiln::prelude::*;
            ///
            /// /// The sums of the rows of one expert, which are `offsets[e]..offsets[e + 1]`.
            #[doc = concat!("fn rows_of(x: ", stringify!($name), "<f32, 2>, offsets: Ptr<i32>, e: i32) -> Tile<f32> {")]
            ///     let mine = x.slice((load(offsets + e)..load(offsets + e + 1), ..));
            ///     let mut sums = zeros([64]);
            ///     for i in range(0, mine.dim(0), 16) {
            ///         sums = sums + mine.tile([i, 0], [16, 64]).load().sum(0);
            ///     }
            ///     sums
            /// }
            /// ```
            #[must_use]
            pub fn slice(self, ranges: impl Ranges<R>) -> $name<T, R> {
                stub()
            }
        }
    )*};
}

slices!(Tensor, TensorMut, TensorMap, TensorMapMut);

/// Keeps [`AxisRange`] and [`Ranges`] to the types here.
mod ranges {
    pub trait Sealed {}
}

/// The range of an axis in a slice: `a..b`, `a..`, `..b` or `..`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a range of positions",
    label = "must be a range of `i32`: `a..b`, `a..`, `..b` or `..`"
)]
pub trait AxisRange: ranges::Sealed {}

/// The ranges of a slice of a tensor or tile of rank `R`: an array, a tuple, or one range for rank 1.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not bound a tensor of rank {R}",
    label = "must be one range for each axis: `[a..b, 0..n]` or `(a..b, ..)`"
)]
pub trait Ranges<const R: usize>: ranges::Sealed {}

macro_rules! axis_ranges {
    ($($range:ty),*) => {$(
        impl ranges::Sealed for $range {}
        impl AxisRange for $range {}
        impl Ranges<1> for $range {}
    )*};
}

axis_ranges!(Range<i32>, RangeFrom<i32>, RangeTo<i32>, RangeFull);

impl<A: AxisRange, const R: usize> ranges::Sealed for [A; R] {}
impl<A: AxisRange, const R: usize> Ranges<R> for [A; R] {}

macro_rules! tuples_of_ranges {
    ($($rank:literal: $($axis:ident)*;)*) => {$(
        impl<$($axis: AxisRange),*> ranges::Sealed for ($($axis,)*) {}
        impl<$($axis: AxisRange),*> Ranges<$rank> for ($($axis,)*) {}
    )*};
}

tuples_of_ranges! {
    1: A;
    2: A B;
    3: A B C;
    4: A B C D;
    5: A B C D E;
}

impl<T: Scalar> View<T> {
    /// Reads the window into a tile of its shape; zero outside the tensor.
    ///
    /// One access moves as many neighbouring elements as the known alignment and strides allow.
    ///
    /// # Layout
    /// If inference is free, neighbouring lanes read neighbouring addresses along the axis of stride 1, up to 16 bytes
    /// each. It is not free if the tile's layout is pinned or follows from a product. If the tile is small, several
    /// threads hold the same element.
    ///
    /// # PTX
    /// `ld.global.v4.f32` and the like, up to 16 bytes: [accesses](super#accesses). For windows that may reach outside,
    /// `@%p0 ld.global`, where `%p0` is one `setp.lt.u32` of the index against the extent for each axis; the result is
    /// set to zero before. A [`Tensor`], which no other argument of the launch overlaps that is written, is read by `ld.global.nc`,
    /// unless the kernel writes through addresses, has `ptx!`, or overlaps with another grid (PTX ISA, "ld.global.nc").
    ///
    /// # Errors
    /// K0504 for more elements than registers hold.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn row(x: Tensor<f32, 2>, i: i32) -> Tile<f32> {
    ///     x.tile([i, 0], [1, 1024]).load().reshape([1024])
    /// }
    /// ```
    #[must_use]
    pub fn load(self) -> Tile<T> {
        stub()
    }
}

impl<T: Scalar> ViewMut<T> {
    /// Reads the window into a tile of its shape; zero outside the tensor.
    ///
    /// It sees what this block has stored before, in program order of each thread; other threads' stores only after
    /// [`sync`](super::sync).
    ///
    /// Layout, PTX and errors: those of [`View::load`](View::load).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn double(x: TensorMut<f32, 1>) {
    ///     let window = x.tile([block_id(0) * 256], [256]);
    ///     window.store(window.load() * 2.0);
    /// }
    /// ```
    #[must_use]
    pub fn load(self) -> Tile<T> {
        stub()
    }

    /// Writes `value`, which has the window's shape; elements outside the tensor are dropped.
    ///
    /// # Layout
    /// If inference is free, as for [`View::load`](View::load). A tile in a layout that would write less than 32 bytes
    /// of a row at a time, such as the `f16` result of a product, is [converted](super#conversions) first.
    ///
    /// # PTX
    /// `st.global.v4.f32` and the like, up to 16 bytes: [accesses](super#accesses); predicated as in
    /// [`View::load`](View::load).
    ///
    /// # Errors
    /// K0202 if the tile has another shape, K0203 if it has another element type, K0206 for a scalar; K0401 for a
    /// window of a `Tensor`.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn write(out: TensorMut<f16, 2>, acc: Tile<f32>) {
    ///     out.tile([0, 0], [64, 64]).store(acc.cast());
    /// }
    /// ```
    pub fn store(self, value: Tile<T>) {
        stub()
    }

    /// Adds `value` to the elements of the window, each in one step that no other thread of the device can interrupt, and gives the
    /// **old** values.
    ///
    /// Elements outside of the tensor are left out, and zero in the result. Blocks may change the same elements, in any
    /// order; what else they read and write is not ordered by it, unless the window says so, by [`acquire`](Self::acquire),
    /// [`release`](Self::release) or [`acq_rel`](Self::acq_rel). This block's own later reads of the window see the
    /// sums. Integers wrap; floats round to nearest even, so that their sum depends on the order in which blocks arrive.
    ///
    /// Unlike [`atomic::add`](super::atomic::add) on addresses, it keeps the launch safe.
    ///
    /// # Layout
    /// The result has the layout of `value`. If several threads hold an element, one of them does the operation; if the
    /// old value is used, the others get it through shared memory.
    ///
    /// # PTX
    /// `@%p0 atom.global.add.f32` and the like, one for each element, where `%p0` is as in [`View::load`](View::load). Floats that a thread
    /// holds one after the other are added at once if the old values are not used: `red.global.add.v4.f32` and others
    /// ([atomics](super::atomic#ptx)).
    ///
    /// # Errors
    /// K0204 for an element type that [atomics](super::atomic) do not have for this operation; K0202, K0203 and K0206 as
    /// for [`store`](Self::store); K0401 for a window of a `Tensor`.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// #[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 64))]
    /// pub fn column_sums(x: Tensor<f32, 2>, sums: TensorMut<f32, 1>) {
    ///     let rows = x.tile([block_id(0) * 64, 0], [64, 128]).load();
    ///     sums.tile([0], [128]).atomic_add(rows.sum(0));
    /// }
    /// ```
    pub fn atomic_add(self, value: Tile<T>) -> Tile<T> {
        stub()
    }

    /// Writes the larger of `value` and the element, in one step for each element of the window, and gives the **old** values: for integers of 32 and 64 bits, and for floats.
    ///
    /// `atom.global.max.s32` and the like. PTX and errors: [those of `atomic_add`](Self::atomic_add).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn change(words: TensorMut<i32, 1>, value: Tile<i32>) -> Tile<i32> {
    ///     words.tile([0], [128]).atomic_max(value)
    /// }
    /// ```
    pub fn atomic_max(self, value: Tile<T>) -> Tile<T> {
        stub()
    }

    /// Writes the smaller of `value` and the element, in one step for each element of the window, and gives the **old** values: for integers of 32 and 64 bits, and for floats.
    ///
    /// `atom.global.min.s32` and the like. PTX and errors: [those of `atomic_add`](Self::atomic_add).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn change(words: TensorMut<i32, 1>, value: Tile<i32>) -> Tile<i32> {
    ///     words.tile([0], [128]).atomic_min(value)
    /// }
    /// ```
    pub fn atomic_min(self, value: Tile<T>) -> Tile<T> {
        stub()
    }

    /// Writes the bitwise and of `value` and the element, in one step for each element of the window, and gives the **old** values: for integers of 32 and 64 bits.
    ///
    /// `atom.global.and.b32` and the like. PTX and errors: [those of `atomic_add`](Self::atomic_add).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn change(words: TensorMut<i32, 1>, value: Tile<i32>) -> Tile<i32> {
    ///     words.tile([0], [128]).atomic_and(value)
    /// }
    /// ```
    pub fn atomic_and(self, value: Tile<T>) -> Tile<T> {
        stub()
    }

    /// Writes the bitwise or of `value` and the element, in one step for each element of the window, and gives the **old** values: for integers of 32 and 64 bits.
    ///
    /// `atom.global.or.b32` and the like. PTX and errors: [those of `atomic_add`](Self::atomic_add).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn change(words: TensorMut<i32, 1>, value: Tile<i32>) -> Tile<i32> {
    ///     words.tile([0], [128]).atomic_or(value)
    /// }
    /// ```
    pub fn atomic_or(self, value: Tile<T>) -> Tile<T> {
        stub()
    }

    /// Writes the bitwise exclusive or of `value` and the element, in one step for each element of the window, and gives the **old** values: for integers of 32 and 64 bits.
    ///
    /// `atom.global.xor.b32` and the like. PTX and errors: [those of `atomic_add`](Self::atomic_add).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn change(words: TensorMut<i32, 1>, value: Tile<i32>) -> Tile<i32> {
    ///     words.tile([0], [128]).atomic_xor(value)
    /// }
    /// ```
    pub fn atomic_xor(self, value: Tile<T>) -> Tile<T> {
        stub()
    }

    /// Writes `value`, in one step for each element of the window, and gives the **old** values: for element types of 4 and 8 bytes.
    ///
    /// `atom.global.exch.b32` and the like. PTX and errors: [those of `atomic_add`](Self::atomic_add).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn change(words: TensorMut<i32, 1>, value: Tile<i32>) -> Tile<i32> {
    ///     words.tile([0], [128]).atomic_exchange(value)
    /// }
    /// ```
    pub fn atomic_exchange(self, value: Tile<T>) -> Tile<T> {
        stub()
    }

    /// Writes `new` where the element equals `current`, in one step for each element of the window, and gives the **old** values: for
    /// element types of 4 and 8 bytes.
    ///
    /// An element was written if the old value equals `current`. Floats are compared by value: -0 equals 0, and NaN equals
    /// nothing.
    ///
    /// `atom.global.cas.b32`, `.b64`; for floats a loop around it. PTX and errors: [those of `atomic_add`](Self::atomic_add).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Which of 128 jobs this block is the first to claim; -1 marks a free one.
    /// fn claim(owners: TensorMut<i32, 1>) -> Tile<bool> {
    ///     let free = full([128], -1);
    ///     owners.tile([0], [128]).atomic_compare_exchange(free, full([128], block_id(0))).eq(free)
    /// }
    /// ```
    pub fn atomic_compare_exchange(self, current: Tile<T>, new: Tile<T>) -> Tile<T> {
        stub()
    }
}
