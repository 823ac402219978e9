//! Raw addresses in global memory.

use core::marker::PhantomData;
use core::ops::{Add, AddAssign, Sub, SubAssign};

use super::scalar::{Operand, Scalar};
use super::sealed::Sealed;
use super::stub;
use super::tile::Tile;

/// The address of a `T` in global memory: a parameter of the kernel, an element of a
/// [tensor of pointers](super#arrays-structs-and-tables-of-pointers), or [`Tensor::ptr`](super::Tensor::ptr).
///
/// `p + i` is the address `i` elements after `p`, `p - i` the one `i` elements before it, as in C; `i` is an `i32` or
/// an `i64`, and the distance in bytes is computed in 64 bits. A pointer plus a tile of offsets is a tile of pointers.
///
/// PTX: `mul.wide.s32` by the element's size (`mul.lo.s64` for an `i64`), or a shift, and `add.s64`; constants become
/// part of the operand, `[%rd1+16]`. Errors: K0204 for an offset of another type, K0206 for other operators and for an
/// offset on the left, K0202 if shapes do not broadcast.
///
/// Accesses have no bounds check: an address outside the caller's memory is a fault, which the emulator reports with
/// the line. So launching a kernel with a pointer parameter is `unsafe`.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// Element `i` of column `j` of a row-major matrix with rows of `pitch` elements.
/// fn column(matrix: Ptr<f32>, pitch: i64, j: i32) -> Tile<f32> {
///     let rows = arange(0, 128).cast::<i64>() * pitch;
///     load(matrix + rows + j)
/// }
/// ```
pub struct Ptr<T>(PhantomData<T>);

handles!(Ptr<T>);

impl<T: Scalar> Sealed for Ptr<T> {}

impl<T: Scalar> Scalar for Ptr<T> {
    const BITS: i32 = 64;
    const BYTES: i32 = 8;
}

impl<T: Scalar> Operand<Ptr<T>> for Ptr<T> {}

macro_rules! pointer_operators {
    ($($left:ty, $offset:ty => $output:ty;)*) => {$(
        impl<T: Scalar> Add<$offset> for $left {
            type Output = $output;
            fn add(self, offset: $offset) -> $output {
                stub()
            }
        }
        impl<T: Scalar> Sub<$offset> for $left {
            type Output = $output;
            fn sub(self, offset: $offset) -> $output {
                stub()
            }
        }
    )*};
}

pointer_operators! {
    Ptr<T>, i32 => Ptr<T>;
    Ptr<T>, i64 => Ptr<T>;
    Ptr<T>, Tile<i32> => Tile<Ptr<T>>;
    Ptr<T>, Tile<i64> => Tile<Ptr<T>>;
    Tile<Ptr<T>>, i32 => Tile<Ptr<T>>;
    Tile<Ptr<T>>, i64 => Tile<Ptr<T>>;
    Tile<Ptr<T>>, Tile<i32> => Tile<Ptr<T>>;
    Tile<Ptr<T>>, Tile<i64> => Tile<Ptr<T>>;
}

macro_rules! pointer_assignments {
    ($($left:ty, $offset:ty;)*) => {$(
        impl<T: Scalar> AddAssign<$offset> for $left {
            fn add_assign(&mut self, offset: $offset) {
                stub()
            }
        }
        impl<T: Scalar> SubAssign<$offset> for $left {
            fn sub_assign(&mut self, offset: $offset) {
                stub()
            }
        }
    )*};
}

pointer_assignments! {
    Ptr<T>, i32;
    Ptr<T>, i64;
    Tile<Ptr<T>>, i32;
    Tile<Ptr<T>>, i64;
    Tile<Ptr<T>>, Tile<i32>;
    Tile<Ptr<T>>, Tile<i64>;
}

/// One address, or a tile of addresses.
///
/// Every thread of the block reads one address, and one of them writes it. A tile of addresses is accessed once for
/// each element, and gives a tile of the same shape. Accesses of different threads of a block are not ordered: put a
/// [`sync`](super::sync) between if one thread may read what another writes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an address in global memory",
    label = "must be `Ptr<T>` or `Tile<Ptr<T>>`",
    note = "a window of a tensor has methods of its own: `tensor.tile(at, shape).load()`"
)]
pub trait Address: Copy + Sealed {
    /// The type that the addresses point to.
    type Target: Scalar;
    /// The value that is read or written: one element, or a tile of them.
    type Value;
    /// Which accesses take place: one `bool`, or a tile of them.
    type Mask;
}

impl<T: Scalar> Address for Ptr<T> {
    type Target = T;
    type Value = T;
    type Mask = bool;
}

impl<T: Scalar> Address for Tile<Ptr<T>> {
    type Target = T;
    type Value = Tile<T>;
    type Mask = Tile<bool>;
}

/// Reads the element at each address.
///
/// Addresses are multiples of the element's size. All of them must be readable; otherwise use [`load_masked`].
///
/// # Layout
/// The result has the layout of the addresses. If inference is free, neighbouring lanes read neighbouring addresses.
///
/// # PTX
/// `ld.global`, up to 16 bytes if addresses of one thread are known to be contiguous and aligned, such as those from
/// [`arange`](super::arange) and a pointer with `#[multiple_of]`: [accesses](super#accesses). Every thread reads one
/// address.
///
/// # Errors
/// K0206 if `at` is not an address.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn gather(table: Ptr<f32>, indices: Tile<i32>) -> Tile<f32> {
///     load(table + indices)
/// }
/// ```
#[must_use]
pub fn load<A: Address>(at: A) -> A::Value {
    stub()
}

/// Reads the element at each address where `mask` holds; elsewhere the result is `other`, and memory is not accessed.
///
/// The mask has the shape of the addresses, or one that broadcasts to it.
///
/// # Layout
/// That of [`load`](load).
///
/// # PTX
/// `@%p0 ld.global`, after `mov` of `other` to the result. As wide as that of [`load`](load) if the mask is known to be
/// the same for neighbours: `at.lt(n)` is, if `n` is a multiple of their number (`#[multiple_of(16)] n: i32`).
///
/// # Errors
/// K0206 if `at` is not an address or `other` a tile, K0204 for a mask that is not `bool`, K0203 for `other` of another
/// type, K0202 if the mask does not broadcast to the addresses.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn head(p: Ptr<f32>, n: i32) -> Tile<f32> {
///     let at = arange(0, 256);
///     load_masked(p + at, at.lt(n), 0.0)
/// }
/// ```
#[must_use]
pub fn load_masked<A: Address>(at: A, mask: A::Mask, other: A::Target) -> A::Value {
    stub()
}

/// Writes `value` to each address.
///
/// If two elements of a tile have the same address, one of them stays; which one is not specified.
///
/// # Layout
/// Addresses and values have the same layout; an operand in another one is [converted](super#conversions) first.
///
/// # PTX
/// `st.global`, as wide as [`load`](load). If several threads hold an element, one of them writes it; the first thread
/// of the block writes one address.
///
/// # Errors
/// K0206 if `at` is not an address or one address gets a tile, K0203 for a value of another type, K0202 if it does not
/// broadcast to the addresses, K0204 for pointers as values, K0401 if the address comes from a
/// [`Tensor`](super::Tensor).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn scatter(table: Ptr<f32>, indices: Tile<i32>, value: Tile<f32>) {
///     store(table + indices, value);
/// }
/// ```
pub fn store<A: Address>(at: A, value: A::Value) {
    stub()
}

/// Writes `value` to each address where `mask` holds; elsewhere memory is not accessed.
///
/// The operands have one shape, or shapes that broadcast to that of the addresses. The order is address, mask, value.
///
/// # Layout
/// That of [`store`](store).
///
/// # PTX
/// `@%p0 st.global`, as wide as [`load_masked`](load_masked).
///
/// # Errors
/// Those of [`store`](store); K0204 for a mask that is not `bool`, K0202 if it does not broadcast to the addresses.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn write_head(p: Ptr<f32>, n: i32, value: Tile<f32>) {
///     let at = arange(0, 256);
///     store_masked(p + at, at.lt(n), value);
/// }
/// ```
pub fn store_masked<A: Address>(at: A, mask: A::Mask, value: A::Value) {
    stub()
}
