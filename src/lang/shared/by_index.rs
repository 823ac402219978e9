//! Shared memory by index.

use super::Shared;
use crate::lang::scalar::Scalar;
use crate::lang::sealed::Sealed;
use crate::lang::stub;
use crate::lang::tile::Tile;

/// Elements of shared memory by their indices: a tile of `i32` for memory of one axis, `[rows, columns]` for two.
///
/// Tiles of two axes' indices have equal extents, or 1 on one side: `[rows.expand(1), columns.expand(0)]` names each column of
/// each row.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name elements of shared memory",
    label = "must be a `Tile<i32>`, or an array of them, one for each axis",
    note = "for example `table.gather(indices)`, `table.gather([rows, columns])`"
)]
pub trait Indices: Copy + Sealed {}

impl Indices for Tile<i32> {}
impl<const RANK: usize> Sealed for [Tile<i32>; RANK] {}
impl<const RANK: usize> Indices for [Tile<i32>; RANK] {}

/// Elements by their indices.
///
/// An index that is negative, or not less than the extent of its axis, names no element: reads give zero there, and writes are
/// dropped. The check of an index, `setp.lt.u32`, is left out if the text proves it in range, like `i & 255` and the ends of `arange` do.
///
/// [`sync`](super::super::sync) orders these accesses against those of other threads, like [`load`](Shared::load) and [`store`](Shared::store).
impl<T: Scalar> Shared<T> {
    /// Reads the elements at `indices`: a tile of their extents.
    ///
    /// Reads at indices outside give zero.
    ///
    /// # Layout
    /// The result has the layout of the indices. The memory is laid out as its other uses want it.
    ///
    /// # PTX
    /// `@%p0 ld.shared.f32` and the like, one for each element, where `%p0` says whether the indices are in range. The address follows from
    /// the indices by `shl.b32` and `add.s32`, in a swizzled layout by `and.b32` and `xor.b32` too.
    ///
    /// # Errors
    /// K0205 unless there is a tile of indices for each axis, K0206 for a scalar, K0203 for indices that are not `i32`, K0202 for extents that
    /// do not fit together, K0402 for a whole ring, K0504 for more elements than registers hold, K0417 while a copy in flight may still
    /// write the memory.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// What a table of 256 numbers has for each byte.
    /// fn look_up(table: Shared<f32>, bytes: Tile<u8>) -> Tile<f32> {
    ///     table.gather(bytes.cast::<i32>())
    /// }
    /// ```
    #[must_use]
    pub fn gather<I: Indices>(self, indices: I) -> Tile<T> {
        stub()
    }

    /// Writes `values` to the elements at `indices`.
    ///
    /// Values outside are dropped. If several go to one element, one of them stays; which one is unspecified.
    ///
    /// # Layout
    /// The indices take the layout of `values`.
    ///
    /// # PTX
    /// `@%p0 st.relaxed.cta.shared.f32` and the like, one for each element, with the address and `%p0` of [`gather`](Self::gather). If several
    /// threads hold an element of `values`, one of them writes it.
    ///
    /// # Errors
    /// Those of [`gather`](Self::gather). K0202 if `values` do not have the extents of the indices, K0203 if they have another element
    /// type, K0206 if they are a scalar.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// The elements in another order: `to` says where each of them goes.
    /// fn permuted(x: Tile<f32>, to: Tile<i32>, staged: Shared<f32>) -> Tile<f32> {
    ///     staged.scatter(to, x);
    ///     sync();
    ///     staged.load()
    /// }
    /// ```
    pub fn scatter<I: Indices>(self, indices: I, values: Tile<T>) {
        stub()
    }

    /// Adds `values` to the elements at `indices`, each in one step that no other thread can interrupt, and gives the **old** values.
    ///
    /// The addition is done once for each index, even if indices repeat, in no particular order. Values outside are left out, and zero in the
    /// result. The operation is relaxed: it orders no other reads and writes. Integers wrap; floats round to nearest
    /// even, so that their sum depends on the order.
    ///
    /// # Layout
    /// The result and the indices have the layout of `values`. If several threads hold an element, one of them does the operation; if the
    /// old value is used, the others get it through shared memory.
    ///
    /// # PTX
    /// `@%p0 atom.shared.add.s32` and the like, one for each element, with the address and `%p0` of [`gather`](Self::gather);
    /// `red.shared.add.s32` if nothing uses the old values.
    ///
    /// # Errors
    /// Those of [`scatter`](Self::scatter), and K0204 for an element type that [atomics](mod@super::super::atomic) do not have for this
    /// operation.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// #[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 1024))]
    /// pub fn histogram(x: Tensor<u8, 1>, counts: TensorMut<i32, 1>) {
    ///     let bins = shared::<i32>([256]);
    ///     bins.store(zeros([256]));
    ///     sync();
    ///     let at = block_id(0) * 1024 + arange(0, 1024);
    ///     let bytes = x.tile([block_id(0) * 1024], [1024]).load().cast::<i32>();
    ///     // What is outside of the tensor names no element.
    ///     let bytes = select(at.lt(x.dim(0)), bytes, -1);
    ///     bins.atomic_add(bytes, full([1024], 1));
    ///     sync();
    ///     counts.tile([0], [256]).atomic_add(bins.load());
    /// }
    /// ```
    pub fn atomic_add<I: Indices>(self, indices: I, values: Tile<T>) -> Tile<T> {
        stub()
    }

    /// Writes the larger of the value and the element, in one step for each index, and gives the **old** values: for integers of 32 and 64 bits, and for floats.
    ///
    /// `atom.shared.max.s32` and the like. PTX and errors: [those of `atomic_add`](Self::atomic_add).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn change(words: Shared<i32>, indices: Tile<i32>, values: Tile<i32>) -> Tile<i32> {
    ///     words.atomic_max(indices, values)
    /// }
    /// ```
    pub fn atomic_max<I: Indices>(self, indices: I, values: Tile<T>) -> Tile<T> {
        stub()
    }

    /// Writes the smaller of the value and the element, in one step for each index, and gives the **old** values: for integers of 32 and 64 bits, and for floats.
    ///
    /// `atom.shared.min.s32` and the like. PTX and errors: [those of `atomic_add`](Self::atomic_add).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn change(words: Shared<i32>, indices: Tile<i32>, values: Tile<i32>) -> Tile<i32> {
    ///     words.atomic_min(indices, values)
    /// }
    /// ```
    pub fn atomic_min<I: Indices>(self, indices: I, values: Tile<T>) -> Tile<T> {
        stub()
    }

    /// Writes the bitwise and of the value and the element, in one step for each index, and gives the **old** values: for integers of 32 and 64 bits.
    ///
    /// `atom.shared.and.b32` and the like. PTX and errors: [those of `atomic_add`](Self::atomic_add).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn change(words: Shared<i32>, indices: Tile<i32>, values: Tile<i32>) -> Tile<i32> {
    ///     words.atomic_and(indices, values)
    /// }
    /// ```
    pub fn atomic_and<I: Indices>(self, indices: I, values: Tile<T>) -> Tile<T> {
        stub()
    }

    /// Writes the bitwise or of the value and the element, in one step for each index, and gives the **old** values: for integers of 32 and 64 bits.
    ///
    /// `atom.shared.or.b32` and the like. PTX and errors: [those of `atomic_add`](Self::atomic_add).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn change(words: Shared<i32>, indices: Tile<i32>, values: Tile<i32>) -> Tile<i32> {
    ///     words.atomic_or(indices, values)
    /// }
    /// ```
    pub fn atomic_or<I: Indices>(self, indices: I, values: Tile<T>) -> Tile<T> {
        stub()
    }

    /// Writes the bitwise exclusive or of the value and the element, in one step for each index, and gives the **old** values: for integers of 32 and 64 bits.
    ///
    /// `atom.shared.xor.b32` and the like. PTX and errors: [those of `atomic_add`](Self::atomic_add).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn change(words: Shared<i32>, indices: Tile<i32>, values: Tile<i32>) -> Tile<i32> {
    ///     words.atomic_xor(indices, values)
    /// }
    /// ```
    pub fn atomic_xor<I: Indices>(self, indices: I, values: Tile<T>) -> Tile<T> {
        stub()
    }

    /// Writes the value, in one step for each index, and gives the **old** values: for element types of 4 and 8 bytes.
    ///
    /// `atom.shared.exch.b32` and the like. PTX and errors: [those of `atomic_add`](Self::atomic_add).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn change(words: Shared<i32>, indices: Tile<i32>, values: Tile<i32>) -> Tile<i32> {
    ///     words.atomic_exchange(indices, values)
    /// }
    /// ```
    pub fn atomic_exchange<I: Indices>(self, indices: I, values: Tile<T>) -> Tile<T> {
        stub()
    }

    /// Writes `new` if the element equals `current`, in one step for each index, and gives the **old** values: for element types of 4 and
    /// 8 bytes.
    ///
    /// An element in range was written if the old value equals `current`; an index outside gives 0, and nothing is written. Floats are compared by value: -0 equals 0, and NaN equals
    /// nothing.
    ///
    /// `atom.shared.cas.b32`, `.b64`; for floats a loop around it. PTX and errors: [those of `atomic_add`](Self::atomic_add).
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Which keys are the first at their place of a table; -1 marks a free place.
    /// fn claim(owners: Shared<i32>, at: Tile<i32>, keys: Tile<i32>) -> Tile<bool> {
    ///     let free = full([128], -1);
    ///     owners.atomic_compare_exchange(at, free, keys).eq(free)
    /// }
    /// ```
    pub fn atomic_compare_exchange<I: Indices>(
        self,
        indices: I,
        current: Tile<T>,
        new: Tile<T>,
    ) -> Tile<T> {
        stub()
    }
}
