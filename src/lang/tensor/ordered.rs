//! What atomic operations of windows order, and whose accesses they are ordered with.

use super::ViewMut;
use crate::lang::scalar::Scalar;
use crate::lang::stub;
use crate::lang::tile::Tile;

impl<T: Scalar> ViewMut<T> {
    /// Reads the elements of the window, each in one step: for element types of 4 and 8 bytes.
    ///
    /// Elements outside the tensor are zero. Unlike [`load`](Self::load), it may read what other blocks write meanwhile, by atomic
    /// operations, and reads it anew each time. It orders nothing else, unless the window says so, by [`acquire`](Self::acquire).
    ///
    /// # Layout
    /// If several threads hold an element, one of them reads it, and gives it to the others through shared memory.
    ///
    /// # PTX
    /// `ld.relaxed.gpu.global.s32` and the like, one for each element, predicated as in [`View::load`](super::View::load) (PTX ISA, "ld").
    ///
    /// # Errors
    /// K0204 for other element types, K0401 for a window of a `Tensor`, K0404 for an order that no load has.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Whether the host, or a kernel on another stream, has asked to stop.
    /// fn is_stopped(flag: TensorMut<i32, 1>) -> bool {
    ///     flag.tile([0], [1]).system_scope().atomic_load().item() != 0
    /// }
    /// ```
    #[must_use]
    pub fn atomic_load(self) -> Tile<T> {
        stub()
    }

    /// Writes `value`, each element in one step: for element types of 4 and 8 bytes.
    ///
    /// Elements outside the tensor are dropped. It orders nothing else, unless the window says so, by [`release`](Self::release).
    ///
    /// # PTX
    /// `st.relaxed.gpu.global.s32` and the like, one for each element (PTX ISA, "st").
    ///
    /// # Errors
    /// K0202, K0203 and K0206 as for [`store`](Self::store), K0204 for other element types, K0401 for a window of a `Tensor`, K0404 for an
    /// order that no store has.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Tells other blocks that the part of this one is written.
    /// fn publish(ready: TensorMut<i32, 1>) {
    ///     ready.tile([block_id(0)], [1]).release().atomic_store(full([1], 1));
    /// }
    /// ```
    pub fn atomic_store(self, value: Tile<T>) {
        stub()
    }

    /// The same window, whose atomic operation is an acquire: where it reads a value that another block wrote with
    /// [`release`](Self::release), all threads of this block see afterwards what that block wrote before.
    ///
    /// The block, or the partition, meets after the operation.
    ///
    /// # PTX
    /// `atom.acquire.gpu.global` or `ld.acquire.gpu.global`, then `bar.sync` (PTX ISA, "Memory Consistency Model").
    ///
    /// # Errors
    /// K0404 if two orders are given, and for what is no atomic operation: [`load`](Self::load), [`store`](Self::store), copies and
    /// [`prefetch`](Self::prefetch).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The part of the block before this one, once it is written.
    /// fn from_before(ready: TensorMut<i32, 1>, parts: TensorMut<f32, 2>) -> Tile<f32> {
    ///     let before = block_id(0) - 1;
    ///     while ready.tile([before], [1]).acquire().atomic_load().item() == 0 {}
    ///     parts.tile([before, 0], [1, 256]).load()
    /// }
    /// ```
    #[must_use]
    pub fn acquire(self) -> ViewMut<T> {
        stub()
    }

    /// The same window, whose atomic operation is a release: who reads its value with [`acquire`](Self::acquire) sees afterwards what all
    /// threads of this block wrote before it.
    ///
    /// The block, or the partition, meets before the operation.
    ///
    /// # PTX
    /// `bar.sync`, then `atom.release.gpu.global` or `st.release.gpu.global`.
    ///
    /// # Errors
    /// Those of [`acquire`](Self::acquire): K0404.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn publish(parts: TensorMut<f32, 2>, ready: TensorMut<i32, 1>, part: Tile<f32>) {
    ///     parts.tile([block_id(0), 0], [1, 256]).store(part);
    ///     ready.tile([block_id(0)], [1]).release().atomic_store(full([1], 1));
    /// }
    /// ```
    #[must_use]
    pub fn release(self) -> ViewMut<T> {
        stub()
    }

    /// The same window, whose atomic operation is both an acquire and a release.
    ///
    /// The block, or the partition, meets before the operation and after it.
    ///
    /// # PTX
    /// `bar.sync`, `atom.acq_rel.gpu.global`, `bar.sync`.
    ///
    /// # Errors
    /// Those of [`acquire`](Self::acquire): K0404.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The sum of what all blocks have: the last one to come adds it up, in the order of the blocks.
    /// #[kernel(target = sm_80, warps = 4, grid = parts.dim(0))]
    /// pub fn sum(x: Tensor<f32, 1>, parts: TensorMut<f32, 1>, come: TensorMut<i32, 1>, out: TensorMut<f32, 1>) {
    ///     let mine = x.tile([block_id(0) * 1024], [1024]).load().sum(0);
    ///     parts.tile([block_id(0)], [1]).store(mine.expand(0));
    ///     let before = come.tile([0], [1]).acq_rel().atomic_add(full([1], 1)).item();
    ///     if before == num_blocks(0) - 1 {
    ///         let mut total = zeros([128]);
    ///         for i in range(0, num_blocks(0), 128) {
    ///             total += parts.tile([i], [128]).load();
    ///         }
    ///         out.tile([0], [1]).store(total.sum(0).expand(0));
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn acq_rel(self) -> ViewMut<T> {
        stub()
    }

    /// The same window, whose atomic operation is one step for all devices and the host, and is ordered with theirs.
    ///
    /// Without it, the scope is this device: two devices that add to one element at the same time may lose a sum. For memory of other
    /// devices, and of the host.
    ///
    /// # PTX
    /// `.sys` in place of `.gpu`.
    ///
    /// # Errors
    /// K0404 if it is given twice, and as for [`acquire`](Self::acquire).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Adds to the counts of all devices, which lie on one of them.
    /// fn count(counts: TensorMut<i32, 1>, found: Tile<i32>) {
    ///     counts.tile([0], [256]).system_scope().atomic_add(found);
    /// }
    /// ```
    #[must_use]
    pub fn system_scope(self) -> ViewMut<T> {
        stub()
    }
}
