//! The language: what the body of a kernel is written in.
//!
//! A kernel is a function over **blocks**: it is written as if one thread ran it, and a whole block
//! of `warps × 32` threads does. Three kinds of values occur in it.
//!
//! | kind | types | where it lives |
//! |---|---|---|
//! | scalars | `bool`, `i8` to `i64`, `u8` to `u64`, [`f16`](struct@f16), [`bf16`], `f32`, `f64`, [`e4m3`], [`e5m2`], [`e2m1x2`], [`ue8m0`], [`Ptr`] | the same value in every thread of the block |
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
//! parameters have no literals: write [`T::of(2.0)`](Float::of), and [`e4m3::from_f32(2.0)`](e4m3::from_f32).
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
//! **A tensor is read and written in the order of the program**, as far as one block goes: where other threads of the block
//! may have touched a window of a [`TensorMut`] before, the compiler puts a barrier (`sync` in dumps of layouts). Other
//! blocks are not waited for. What goes through a [`Ptr`] is not ordered: write [`sync`].
//!
//! # What there is
//!
//! | family | items |
//! |---|---|
//! | making tiles | [`zeros`], [`full`], [`arange`], [`join`] |
//! | elementwise | [operators](Tile#elementwise-operations), [`select`], [`maximum`], [`minimum`], [`fma`], [`Tile::map`], [`Tile::cast`], [functions of floats](Tile#functions-of-floats) |
//! | along an axis | [reductions](Tile#reductions), [`Tile::scan`], [`Tile::cumsum`] |
//! | shapes | [`Tile::expand`], [`Tile::broadcast`], [`Tile::reshape`], [`Tile::permute`], [`Tile::t`], [`Tile::split`], [`Tile::item`] |
//! | global memory | [`Tensor`], [`TensorMut`] and their windows; [`Ptr`] with [`load`], [`store`] and masked forms; [`atomic`] |
//! | shared memory | [`shared`], [`Shared`], [`copy_async`] and its waits, [`sync`] |
//! | asynchronous copies of Hopper | [`tma`], [`bulk`], [`Barrier`], [`fence_async`] |
//! | blocks and partitions | [`cluster`], [`Shared::of_block`], [`Barrier::of_block`], [`NamedBarrier`] |
//! | products | [`dot`], [`dot_tf32`] |
//! | control | [`range`], [`unroll`], [`pipeline`], [`array()`], [`warp_specialize`], [`partition`], [`device_assert`] |
//! | instructions written out | [`ptx!`](crate::prelude::ptx) |
//! | the launch | [`block_id`], [`num_blocks`], [`num_warps`], [`cdiv`], [`target`] |
//! | layouts | [`Layout`] and what makes one, [`Tile::to_layout`], [`Tile::assert_layout`], [`Shared::with_layout`] |
//!
//! Each item says which layout its result has where that matters, the PTX that it becomes, and the errors that are its own.
//! Sections in quotes are those of NVIDIA's manual "Parallel Thread Execution ISA" (PTX ISA).
//!
//! # Element types
//!
//! | type | bytes in memory | in a register of | notes |
//! |---|---|---|---|
//! | `bool` | 1, 0 or 1 | a predicate | masks |
//! | `i8`, `u8`, `i16`, `u16` | 1, 2 | 32 bits, extended | computed in 32 bits; bytes are factors of [`dot`] |
//! | `i32`, `u32` | 4 | 32 bits | |
//! | `i64`, `u64` | 8 | 64 bits | |
//! | [`f16`](struct@f16), [`bf16`] | 2 | 16 bits; two in one for arithmetic | factors of [`dot`] |
//! | `f32` | 4 | 32 bits | factors of [`dot_tf32`]; of [`dot`] by multiply-add |
//! | `f64` | 8 | 64 bits | [some functions](Tile#functions-of-floats) are refused |
//! | [`e4m3`], [`e5m2`] | 1 | 32 bits, the bits as they are | without arithmetic (K0204): moved, converted from `sm_90a` on, factors of [`wgmma::mma`] and [`dot`] |
//! | [`e2m1x2`], [`ue8m0`] | 1 | 32 bits, the bits as they are | without arithmetic and conversions (K0204): moved, factors of [`tcgen05::mma`], factors and scales of [`tcgen05::mma_scaled`]; [`e2m1x2::from_bits`] makes a constant |
//! | [`Ptr<T>`](Ptr) | not stored | 64 bits | the address of a `T` |
//!
//! A tile's budget counts one register of 32 bits for each element, and two for 64 bits: at most 1024 in a thread (K0504),
//! with what a pinned layout repeats.
//!
//! # The grid
//!
//! A launch runs a grid of blocks, of one to three axes, which all execute the same kernel. How many there are the kernel
//! says, as an expression of the host over its arguments and generic parameters, `grid = [cdiv(x.dim(0), M), 4]`; or the
//! caller, with [`Launch::grid`](crate::Launch::grid), which counts more. Where neither does, the launch is an error.
//!
//! `grid = persistent(tiles)` starts as many blocks as the device holds at once, at most `tiles`; each then walks over
//! its share of the tiles:
//!
//! ```
//! use kiln::prelude::*;
//!
//! #[kernel(target = sm_80, warps = 4, grid = persistent(cdiv(x.dim(0), 256)))]
//! fn halve(x: TensorMut<f32, 1>) {
//!     for tile in range(block_id(0), cdiv(x.dim(0), 256), num_blocks(0)) {
//!         let window = x.tile([tile * 256], [256]);
//!         window.store(window.load() * 0.5);
//!     }
//! }
//!
//! let stream = Device::emulator(Target::Sm80)?.stream()?;
//! let mut x = stream.full([1000], 3.0)?;
//! halve(halve::Args { x: &mut x }).launch(&stream)?;
//! assert_eq!(x.to_vec(&stream)?, [1.5; 1000]);
//! # Ok::<(), kiln::Error>(())
//! ```
//!
//! On Blackwell a block that is done may instead take over the work of one that has not begun: [`cluster::try_cancel`].
//!
//! # How layouts are chosen
//!
//! A [layout](Layout) says which thread holds which element of a tile, in which register. Speed depends on it; values
//! do not, but for the rounding of floats in [reductions](Tile#reductions), whose order it decides. The compiler
//! chooses all layouts of a kernel together: they enter where something has a say, and spread from there over
//! elementwise operations, reductions, loops and branches to whatever has none yet. The first to arrive stays:
//!
//! 1. what is pinned with [`to_layout`](Tile::to_layout);
//! 2. the results of [`dot`], in the layout [`mma`], and then the factors that do not come from global memory;
//! 3. reads of global memory, those of most bytes first: neighbouring lanes read neighbouring addresses, up to 16 bytes each;
//! 4. writes to global memory, likewise;
//! 5. what is left, the largest tile first, by rows.
//!
//! A large read or write refuses a layout in which its lanes would touch less than 32 bytes of a row. Indices, masks and
//! constants (from [`arange`], [`full`], scalars), and tiles read from shared memory are made anew in each layout that is asked
//! for. Shared memory is arranged as its uses want it: rows of 16 bytes for `ldmatrix`, runs of 16 bytes for copies, and a
//! swizzle against bank conflicts.
//!
//! # Conversions
//!
//! Where layouts meet that differ, a conversion is put in front of the operation that wants the other one, outside of loops that
//! do not change the tile. It costs, from the cheapest to the dearest:
//!
//! | what moves | PTX |
//! |---|---|
//! | nothing, or registers of one thread | none |
//! | each thread has its elements, in registers that depend on its lane or warp | `selp` |
//! | elements within a warp, in up to 16 words | `shfl.sync.idx.b32` (and `selp` where the register depends on the lane) |
//! | everything else | `st.shared`, `bar.sync 0`, `ld.shared`, up to 16 bytes at a time, in scratch next to the allocations |
//!
//! Scratch counts against the block's shared memory (K0501); it takes the place of allocations that are used no more.
//! [`assert_layout`](Tile::assert_layout) makes sure that there is no conversion, in both variants of a kernel: a load may
//! have one layout where tensors are aligned and another one elsewhere, and has the same after `.load().to_layout(..)`.
//! `KILN_DUMP=DIR cargo build` writes the layouts of a kernel, with the cost of each conversion and of each access of shared
//! memory after `kiln inspect --layouts DIR` (PTX ISA, "shfl.sync", "bar.sync").
//!
//! # Accesses
//!
//! One access of a thread moves up to 16 bytes: as many elements as are known to lie side by side, aligned to their
//! size together, and inside or outside of the tensor together, in a layout that holds them in one thread. Known are
//! `#[multiple_of]`, `#[stride]` and what follows of them for offsets. The instance for aligned tensors, which the
//! launch takes where it fits, also knows that they and pointers begin at multiples of 16 bytes, that the last axis is
//! contiguous and that rows are multiples of 16 bytes.
//!
//! | elements | instruction, for each 16, 8 or 4 bytes |
//! |---|---|
//! | `f32` | `ld.global.v4.f32`, `.v2.f32`, `.f32` |
//! | `f64`, 64-bit integers | `ld.global.v2.f64`, `.v2.b64`; `.f64`, `.b64` |
//! | all others | `ld.global.v4.b32`, `.v2.b32`, `.b32`, and fewer bytes as `.b16`, `.s16`, `.u16`, `.s8`, `.u8` |
//!
//! Writes are `st.global`, shared memory is `ld.shared` and `st.shared`, in the same widths (PTX ISA, "ld", "st"). What several
//! threads hold is written by one of them. An access that may not take place is predicated, `@%p0 ld.global.v4.f32`, and its
//! result set before.
//!
//! # Errors
//!
//! What is wrong with a kernel is an error of `cargo build`, with the smallest expression underlined, required and actual facts,
//! and most often a fix. It has a code, whose page says more: `cargo run -p kiln-gpu-cli -- explain K0202`. The first two digits say
//! what it is about: 01 Rust that a kernel cannot use, 02 shapes and element types, 03 layouts, 04 memory, 05 what the hardware
//! has, 06 the host's side.
//!
//! Items name the codes that are about them. Every one can raise K0102 for a name that is not there, K0106 for an
//! argument that must be known when compiling, K0107 for a wrong number of arguments, K0108 for a method that a value
//! lacks, K0203 for element types that differ, and those that make a tile K0504 for one that is too large.
//!
//! | code | title |
//! |---|---|
//! | K0101 | Rust that is not part of the kernel language |
//! | K0102 | a name that nothing defines |
//! | K0103 | a function that calls itself |
//! | K0104 | a kernel signature that cannot be launched |
//! | K0105 | an attribute that is not understood |
//! | K0106 | a value that must be known when compiling |
//! | K0107 | a wrong number of arguments |
//! | K0108 | something that cannot be called or has no such method or field |
//! | K0109 | compile-time work without end |
//! | K0110 | an assignment to a variable that is not `mut` |
//! | K0111 | a text of `ptx!` that is not PTX or does not fit its operands |
//! | K0201 | a tile extent that is not a power of two |
//! | K0202 | shapes that do not fit together |
//! | K0203 | element types that do not fit together |
//! | K0204 | an element type that the operation does not take |
//! | K0205 | an axis or a rank out of range |
//! | K0206 | a tile where a scalar is wanted, or the other way round |
//! | K0207 | a constant out of range |
//! | K0208 | a compile-time assertion that fails |
//! | K0209 | branches or loop iterations that give different types |
//! | K0210 | operands of a product that do not fit together |
//! | K0301 | a layout that does not fit the tile or the block |
//! | K0302 | a layout that a product cannot use |
//! | K0303 | a tile that does not have the asserted layout |
//! | K0306 | a layout that no gather or scatter takes its rows from |
//! | K0307 | layouts between which no instruction copies to tensor memory |
//! | K0401 | a write to a tensor that is only read |
//! | K0402 | shared memory used in a way it does not allow |
//! | K0403 | an allocation inside a loop or branch |
//! | K0404 | a copy between spaces that no instruction joins |
//! | K0405 | a loop whose copies cannot be pipelined |
//! | K0406 | a value of each thread's own where the block has one |
//! | K0407 | warps that are specialised where they cannot be |
//! | K0408 | what a partition cannot have of what is around it |
//! | K0409 | a tensor map that the hardware does not have |
//! | K0410 | an accumulator that is used before its product is done |
//! | K0411 | a barrier that waits for other bytes than are copied |
//! | K0412 | a bulk copy that the hardware does not have |
//! | K0414 | tensor memory used in a way it does not allow |
//! | K0416 | a gather or a scatter that the hardware does not have |
//! | K0501 | more shared memory than a block can have |
//! | K0502 | a target that is unknown or cannot do it |
//! | K0503 | a number of warps that a block cannot have |
//! | K0504 | a tile with more elements than registers can hold |
//! | K0505 | partitions that a block cannot have |
//! | K0506 | more registers than a multiprocessor has |
//! | K0507 | a cluster that cannot be, or a block that is not in it |
//! | K0508 | a named barrier that a block does not have |
//! | K0510 | more tensor memory than a multiprocessor has |
//! | K0511 | tensor cores used by pairs of blocks and by single ones |
//! | K0601 | an instance list that does not fit the generic parameters |
//! | K0602 | a parameter type that cannot be passed to a kernel |
//! | K0603 | a fact about a parameter that cannot hold |
//! | K0901 | a gather or a scatter that leaves warps idle |
//! | K9999 | a bug of the compiler |
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
mod tensor_memory;

mod array;

mod barrier;

mod named;

mod copy;

pub mod tma;

pub mod bulk;

mod product;

pub mod tcgen05;

pub mod wgmma;

mod layout;

mod control;

mod specialize;

mod grid;

pub mod cluster;

mod target;

mod ptx;

pub use half::{bf16, f16};
pub use kernel_runtime::{e2m1x2, e4m3, e5m2, ue8m0};

pub use array::{Array, array};
pub use barrier::{Barrier, Barriers, barrier, barriers};
pub use control::{device_assert, pipeline, range, sync, unroll};
pub use copy::{
    CopyDestination, CopySource, Copying, copy_async, copy_async_commit, copy_async_wait,
    copy_async_wait_all, fence_async,
};
pub use elementwise::{fma, maximum, minimum, select};
pub use grid::{
    block_id, cdiv, grid_dependency_wait, grid_dim, launch_dependents, num_blocks, num_warps,
};
pub use layout::{
    Layout, TileAxis, TilePart, blocked, dot_operand, linear, mma, row_major, shared_linear, slice,
    swizzle, swizzled, tmem_block, tmem_load,
};
pub use named::{NamedBarrier, named_barrier};
pub use pointer::{Address, Ptr, load, load_masked, store, store_masked};
pub use product::{Matrix, dot, dot_tf32};
#[doc(hidden)]
pub use ptx::{OnScalars, OnTiles, PtxCall, PtxKind, PtxOperand, PtxOutput};
pub use scalar::{Bits, Cast, Float, Int, Number, Operand, Scalar};
pub use shared::{Shared, shared};
pub use specialize::{Partition, PartitionBuilder, partition, warp_specialize};
pub use target::{Target, sm_80, sm_90a, sm_100a, target};
pub use tensor::{Tensor, TensorMap, TensorMapMut, TensorMut, View, ViewMut};
pub use tensor_memory::{Tmem, tmem};
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
