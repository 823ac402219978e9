//! The language: what the body of a kernel is written in.
//!
//! A kernel is a function over **blocks**: it is written as if one thread ran it, and a whole block
//! of `warps × 32` threads does. Three kinds of values occur in it.
//!
//! | kind | types | where it lives |
//! |---|---|---|
//! | scalars | `bool`, `i8` to `i64`, `u8` to `u64`, [`f16`](struct@f16), [`bf16`], `f32`, `f64`, [`Ptr`] | the same value in every thread of the block |
//! | tiles | [`Tile<T>`](Tile) | a dense array, spread over the registers of the block's threads |
//! | handles | [`Tensor`], [`TensorMut`], [`View`], [`ViewMut`], [`Shared`] | name memory, and are themselves free to copy |
//!
//! Around them, a body is Rust: `let`, `if`, `for`, `while`, `loop`, functions, structs with
//! methods, tuples, [arrays](array()), generics, `const` items and `const { assert!(..) }`.
//! Everything is inlined.
//!
//! ```no_run
//! use kiln::prelude::*;
//!
//! /// y = a · x + y, 1024 elements a block.
//! fn axpy(a: f32, x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
//!     let at = block_id(0) * 1024;
//!     let mine = y.tile([at], [1024]);
//!     mine.store(a * x.tile([at], [1024]).load() + mine.load());
//! }
//! ```
//!
//! # Rules that hold everywhere
//!
//! **Indices, extents and integer const generics are `i32`.** Axes are `usize` literals.
//!
//! **A tile's shape is known when compiling.** Its extents are powers of two and its rank is at
//! most 5. An extent may be a literal, a `const`, a const generic, [`dim`](Shared::dim) of shared
//! memory, or arithmetic on these, also through fields, locals and calls. Arguments described as
//! *known when compiling* take the same. The shape is not part of the Rust type, so the compiler
//! reports a wrong shape, not `rustc`.
//!
//! **Broadcasting.** In arithmetic, comparison and choice, two tiles have the same rank, and on
//! each axis the same extent or extent 1: `(M, 1) + (1, N)` gives `(M, N)`.
//! [`expand`](Tile::expand) inserts the axes of extent 1. A scalar, and a tile of rank 0 (what is
//! left when the only axis is reduced), go with every shape.
//!
//! **Element types never convert by themselves.** Write [`cast`](Tile::cast). A literal takes the
//! tile's element type: `2.0 * x` where `x` is a `Tile<f32>`. The types `f16`, `bf16` and generic
//! parameters have no literals: write [`T::of(2.0)`](Float::of).
//!
//! **Arithmetic is that of the hardware.** Integers wrap. Floats round to nearest, ties to even;
//! subnormals are kept. There are no traps.
//!
//! **Comparison is a method**: [`x.lt(y)`](Tile::lt), because Rust's `<` must give one `bool`.
//! Masks combine with `&`, `|` and `!`, and choose with [`select`]. A scalar `bool`, which is the
//! same in every thread, is what `if` and `while` take.
//!
//! **Shared memory is not synchronised for you.** What one thread writes, another may read after
//! [`sync`].
//!
//! # These items as Rust
//!
//! The functions and methods of this module have types, but nothing behind them: a body is compiled
//! to PTX by `#[kernel]`, and then once more checked by `rustc` against these items, so that hover,
//! completion and lints work. Calling one of them on the host panics. The exceptions have a meaning
//! on the host too, and work there: [`cdiv`], and the scalar methods of [`Float`] and [`Cast`].
#![expect(unused_variables, reason = "the parameters of a stub are named for its reader")]
#![expect(
    clippy::semicolon_if_nothing_returned,
    clippy::needless_pass_by_value,
    reason = "every stub has the same body, which uses nothing"
)]

/// Makes types that stand for something on the device `Copy`, whatever their parameters are.
macro_rules! handles {
    ($($name:ident<T $(, const $rank:ident: usize)?>),*) => {$(
        impl<T $(, const $rank: usize)?> Clone for $name<T $(, $rank)?> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T $(, const $rank: usize)?> Copy for $name<T $(, $rank)?> {}

        impl<T $(, const $rank: usize)?> core::fmt::Debug for $name<T $(, $rank)?> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )*};
}

mod scalar;

mod tile;

mod operators;

mod elementwise;

mod tensor;

mod pointer;

pub mod atomic;

mod shared;

mod array;

mod copy;

mod product;

mod layout;

mod control;

mod grid;

mod target;

mod ptx;

pub use half::{bf16, f16};

pub use array::{Array, array};
pub use control::{device_assert, pipeline, range, sync, unroll};
pub use copy::{
    CopyDestination, CopySource, copy_async, copy_async_commit, copy_async_wait,
    copy_async_wait_all,
};
pub use elementwise::{fma, maximum, minimum, select};
pub use grid::{block_id, cdiv, grid_dim, num_blocks, num_warps};
pub use layout::{
    Layout, TileAxis, TilePart, blocked, dot_operand, linear, mma, row_major, shared_linear, slice,
    swizzle, swizzled,
};
pub use pointer::{Address, Ptr, load, load_masked, store, store_masked};
pub use product::{Matrix, dot, dot_tf32};
#[doc(hidden)]
pub use ptx::{OnScalars, OnTiles, PtxCall, PtxKind, PtxOperand, PtxOutput};
pub use scalar::{Bits, Cast, Float, Int, Number, Operand, Scalar};
pub use shared::{Shared, shared};
pub use target::{Target, sm_80, sm_90a, sm_100a, target};
pub use tensor::{Tensor, TensorMut, View, ViewMut};
pub use tile::{Shape, Tile, arange, full, join, zeros};

/// The body of everything that has a meaning only on the device.
const fn stub<T>() -> T {
    panic!(
        "a kernel's body runs only on a device: this item of Kiln's language has no meaning on the host"
    )
}

/// Keeps the language's traits to the types that the compiler knows.
mod sealed {
    /// Implemented by the types of the language, and by no others.
    pub trait Sealed {}
}
