//! Copies that run while the block computes.

use super::scalar::Scalar;
use super::sealed::Sealed;
use super::shared::Shared;
use super::stub;
use super::tensor::{View, ViewMut};

/// What a copy reads: a window of a tensor.
#[diagnostic::on_unimplemented(
    message = "a copy of `{T}` cannot read from `{Self}`",
    label = "must be a window of a tensor of `{T}`: `tensor.tile(at, shape)`"
)]
pub trait CopySource<T>: Copy + Sealed {}

/// What a copy writes: shared memory.
#[diagnostic::on_unimplemented(
    message = "a copy of `{T}` cannot write to `{Self}`",
    label = "must be shared memory for `{T}`"
)]
pub trait CopyDestination<T>: Copy + Sealed {}

impl<T: Scalar> Sealed for View<T> {}
impl<T: Scalar> Sealed for ViewMut<T> {}
impl<T: Scalar> Sealed for Shared<T> {}
impl<T: Scalar> CopySource<T> for View<T> {}
impl<T: Scalar> CopySource<T> for ViewMut<T> {}
impl<T: Scalar> CopyDestination<T> for Shared<T> {}

/// Starts a copy of a window into shared memory of the same shape, and goes on without waiting for
/// it.
///
/// Elements outside the tensor arrive as zero. The data does not pass through registers
/// (`cp.async`): pieces of 4, 8 or 16 bytes travel, so along the last axis of the tensor neighbours
/// are contiguous, and rows are aligned to at least 4 bytes.
///
/// The copy is done for the thread that waits for it, with [`copy_async_wait_all`], or with
/// [`copy_async_commit`] and [`copy_async_wait`]. Each thread copies a part, so a
/// [`sync`](super::sync) after the wait comes before any use of the whole. Until then the
/// destination is neither read nor written.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn fetch(x: Tensor<f16, 2>, i: i32, to: Shared<f16>) -> Tile<f16> {
///     copy_async(x.tile([i, 0], [64, 32]), to);
///     copy_async_wait_all();
///     sync(); // every thread's part has arrived
///     to.load()
/// }
/// ```
pub fn copy_async<T: Scalar>(from: impl CopySource<T>, to: impl CopyDestination<T>) {
    stub()
}

/// Makes a group of the copies that were started since the last group was made. The group may be
/// empty.
///
/// Groups are counted by [`copy_async_wait`]; committing once in every turn of a loop, also in
/// turns that start no copy, keeps the count regular.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn start(x: Tensor<f16, 2>, k: i32, to: Shared<f16>) {
///     if k < x.dim(1) {
///         copy_async(x.tile([0, k], [64, 32]), to);
///     }
///     copy_async_commit();
/// }
/// ```
pub fn copy_async_commit() {
    stub()
}

/// Waits until at most `pending` of the newest groups are still under way. `pending` is known when
/// compiling.
///
/// Copies that belong to no group yet are not waited for. Other threads' parts are visible after a
/// [`sync`](super::sync).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// With three stages, two groups may be on their way while the oldest is used.
/// fn oldest_has_arrived() {
///     copy_async_wait(2);
///     sync();
/// }
/// ```
pub fn copy_async_wait(pending: i32) {
    stub()
}

/// Waits for all copies that were started, in groups or not.
///
/// Other threads' parts are visible after a [`sync`](super::sync).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn everything_has_arrived() {
///     copy_async_wait_all();
///     sync();
/// }
/// ```
pub fn copy_async_wait_all() {
    stub()
}
