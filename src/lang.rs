//! The language: what the body of a kernel is written in.
//!
//! A kernel is a function over **blocks**: it is written as if one thread ran it, but a whole block
//! of `warps × 32` threads runs it. It has three kinds of values.
//!
//! | kind | types | where it lives |
//! |---|---|---|
//! | scalars | `bool`, `i8` to `i64`, `u8` to `u64`, [`f16`](struct@f16), [`bf16`], `f32`, `f64`, [`e4m3`], [`e5m2`], [`e2m1x2`], [`ue8m0`], [`Ptr`] | the same value in every thread of the block |
//! | tiles | [`Tile<T>`](Tile) | a dense array, spread over the registers of the block's threads |
//! | handles | [`Tensor`], [`TensorMut`], [`View`], [`ViewMut`], [`Shared`] | name memory, and are themselves free to copy |
//!
//! Around them, a body is Rust: `let`, `if`, `match` on numbers and [optional parameters](#parameters), `for`, `while`, `loop`, functions, structs with
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
//! **Indices, extents and integer const generics are `i32`.** Axes are known at compile time; those of tiles may count from the
//! last one, which is -1.
//!
//! **A tile's shape is known at compile time.** Its extents are powers of two and its rank is at
//! most 5. An extent may be a literal, a `const`, a const generic, [`dim`](Shared::dim) of shared
//! memory, or arithmetic on these, also through fields, locals and calls. Arguments described as
//! *known at compile time* take the same. The shape is not part of the Rust type, so Kiln's compiler
//! reports a wrong shape, not `rustc`.
//!
//! **Broadcasting.** In arithmetic, comparison and choice, two tiles have the same rank, and on
//! each axis the same extent or extent 1: `(M, 1) + (1, N)` gives `(M, N)`.
//! [`expand`](Tile::expand) inserts the axes of extent 1. Every shape combines with a scalar, and
//! with a tile of rank 0 (the result of reducing the only axis).
//!
//! **Element types never convert implicitly.** Write [`cast`](Tile::cast). A literal takes the
//! tile's element type: `2.0 * x` where `x` is a `Tile<f32>`. The types `f16`, `bf16` and generic
//! parameters have no literals: write [`T::of(2.0)`](Float::of), and [`e4m3::from_f32(2.0)`](e4m3::from_f32).
//!
//! **Arithmetic is that of the hardware.** Integers wrap. Floats round to nearest, ties to even;
//! subnormals are kept. There are no traps.
//!
//! **Enums without data are numbers**: `enum Act { Relu, Gelu }` has methods, and `match` chooses among its variants, at compile
//! time if the variant is known.
//!
//! **Structs may have operators**: `impl std::ops::Mul for Complex`, and `impl Mul<f32> for Complex`, are used by `a * b` as
//! everywhere in Rust, and `MulAssign` and `Neg` likewise.
//!
//! **Comparison is a method**: [`x.lt(y)`](Tile::lt), because Rust's `<` must give one `bool`.
//! Masks combine with `&`, `|` and `!`; [`select`] chooses with a mask. `if` and `while` take a
//! scalar `bool`, which is the same in every thread.
//!
//! **The program synchronises shared memory.** One thread may read what another wrote only after
//! [`sync`].
//!
//! **Within a block, a tensor is read and written in the order of the program.** If another thread of the block may have
//! accessed a window of a [`TensorMut`] before, the compiler inserts a barrier (`sync` in dumps of layouts). Nothing waits
//! for other blocks. Accesses through a [`Ptr`] are not ordered: write [`sync`].
//!
//! # What there is
//!
//! | family | items |
//! |---|---|
//! | making tiles | [`zeros`], [`full`], [`arange`], [`join`] |
//! | elementwise | [operators](Tile#elementwise-operations), [`select`], [`maximum`], [`minimum`], [`fma`], [`Tile::map`], [`Tile::cast`], [functions of floats](Tile#functions-of-floats) |
//! | bits of integers | [`Tile::count_ones`], [`Tile::leading_zeros`], [`Tile::reverse_bits`], [`Tile::rotate_left`], [`Tile::funnel_shl`], [`Tile::mul_hi`], [`Tile::bitcast`] and their neighbours |
//! | random numbers | [`random::Philox`](crate::random::Philox) |
//! | along an axis | [reductions](Tile#reductions), [`Tile::scan`], [`Tile::cumsum`], [`Tile::flip`], and of several tiles [`Tiles`] |
//! | order | [sorts](Tile#sorts), [`Tile::top_k`], [`Tile::gather`], [`Tile::histogram`] |
//! | shapes | [`Tile::expand`], [`Tile::broadcast`], [`Tile::reshape`], [`Tile::permute`], [`Tile::t`], [`Tile::split`], [`Tile::slice`], [`Tile::concat`], [`Tile::item`] |
//! | global memory | [`Tensor`], [`TensorMut`] and their windows; [`Ptr`] with [`load`], [`store`] and masked forms; [`atomic`] |
//! | shared memory | [`shared`], [`Shared`]; [`Shared::gather`], [`Shared::scatter`] and atomics at tiles of indices; [`copy_async`] and its waits, [`sync`] |
//! | asynchronous copies of Hopper | [`tma`], [`bulk`], [`Barrier`], [`fence_async`] |
//! | blocks and partitions | [`cluster`], [`Shared::of_block`], [`Barrier::of_block`], [`NamedBarrier`] |
//! | products | [`dot`], [`dot_tf32`], [`dot_scaled`], [`dot_sparse`], [`dot_sparse_tf32`] |
//! | control | [`range`], [`unroll`], [`pipeline`], [`array()`], [`warp_specialize`], [`partition`], [`device_assert`] |
//! | while it runs | [`println!`, `print!`, `assert!`, `assert_eq!`, `assert_ne!`](#while-it-runs), [`stamp!`](crate::stamp!) |
//! | inline PTX | [`ptx!`](crate::prelude::ptx) |
//! | the launch | [`block_id`], [`num_blocks`], [`num_warps`], [`cdiv`], [`target`], [`shared_bytes_per_block`] |
//! | layouts | [`Layout`] and its constructors, [`Tile::to_layout`], [`Tile::assert_layout`], [`Shared::with_layout`] |
//!
//! Each item says which layout its result has if that matters, which PTX it becomes, and which errors it raises. Sections in
//! quotes are those of NVIDIA's manual "Parallel Thread Execution ISA" (PTX ISA).
//!
//! # Element types
//!
//! | type | bytes in memory | in a register of | notes |
//! |---|---|---|---|
//! | `bool` | 1, 0 or 1 | a predicate | masks |
//! | `i8`, `u8`, `i16`, `u16` | 1, 2 | 32 bits, extended | computed in 32 bits; bytes are operands of [`dot`] |
//! | `i32`, `u32` | 4 | 32 bits | |
//! | `i64`, `u64` | 8 | 64 bits | |
//! | [`f16`](struct@f16), [`bf16`] | 2 | 16 bits; two in one for arithmetic | operands of [`dot`] |
//! | `f32` | 4 | 32 bits | operands of [`dot_tf32`]; of [`dot`] by multiply-add |
//! | `f64` | 8 | 64 bits | [some functions](Tile#functions-of-floats) are refused |
//! | [`e4m3`], [`e5m2`] | 1 | 32 bits, raw bits | without arithmetic (K0204): moved, converted from `sm_89` on, operands of [`dot`], [`wgmma::mma`], [`tcgen05::mma`], [`dot_scaled`] and [`tcgen05::mma_scaled`]; `e4m3` is also the type of scales of NVFP4 |
//! | [`e2m1x2`] | 1 | 32 bits, raw bits | two FP4 numbers, without arithmetic and conversions (K0204): moved, operands of [`dot`], [`tcgen05::mma`], [`dot_scaled`] and [`tcgen05::mma_scaled`]; [`e2m1x2::from_bits`] and [`bitcast`](Tile::bitcast) make them of bytes |
//! | [`ue8m0`] | 1 | 32 bits, raw bits | without arithmetic and conversions (K0204): moved, scales of [`dot_scaled`] and [`tcgen05::mma_scaled`] |
//! | [`e2m3x16`], [`e3m2x16`] | 12, in shared memory 16 | none | sixteen FP6 numbers: loaded by [`tma::load`], operands of [`dot`], [`dot_scaled`], [`tcgen05::mma`] and [`tcgen05::mma_scaled`], and nothing else (K0204) |
//! | [`Ptr<T>`](Ptr) | 8, in [tensors of pointers](#arrays-structs-and-tables-of-pointers) | 64 bits | the address of a `T` |
//!
//! The budget of a tile counts one 32-bit register for each element, and two for 64-bit elements: at most 1024 in a thread
//! (K0504), including elements that a pinned layout repeats.
//!
//! # Parameters
//!
//! | type | the caller passes | the entry gets |
//! |---|---|---|
//! | [`Tensor<T, R>`](Tensor), [`TensorMap<T, R>`](TensorMap) | `&` of a device tensor or a view | the address, `R` extents, `R` strides; of a map also the map |
//! | [`TensorMut<T, R>`](TensorMut), [`TensorMapMut<T, R>`](TensorMapMut) | `&mut` of one | the same |
//! | [`Ptr<T>`](Ptr) | a [`DevicePtr`](crate::DevicePtr); the launch is unsafe | the address |
//! | a scalar | its value | its value |
//! | an array `[T; N]` of these | an array of what they are | those of each element |
//! | a struct of these, of the kernel's module | its `Args`: see [below](#arrays-structs-and-tables-of-pointers) | those of each field |
//! | `Option` of one of these | `Some(..)` of that, or `None` | that, or nothing |
//!
//! **An argument may be absent** if its parameter is an `Option`. The compiler makes code for each choice of arguments that are
//! absent, and the launch takes the code for its own arguments: it has no branch and no parameter for what is absent. So a
//! kernel has at most four such parameters (K0602). What attributes say of an absent argument is not checked.
//!
//! ```
//! use kiln::prelude::*;
//!
//! #[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(1), 128))]
//! fn affine(x: Tensor<f32, 2>, bias: Option<Tensor<f32, 1>>, out: TensorMut<f32, 2>) {
//!     let column = block_id(0) * 128;
//!     let mut sum = x.tile([0, column], [16, 128]).load();
//!     if let Some(bias) = bias {
//!         sum += bias.tile([column], [128]).load().expand(0);
//!     }
//!     out.tile([0, column], [16, 128]).store(sum);
//! }
//!
//! let stream = Device::emulator(Target::Sm80)?.stream()?;
//! let (x, bias) = (stream.full([16, 200], 2.0)?, stream.full([200], 0.5)?);
//! let mut out = stream.zeros([16, 200])?;
//! affine(affine::Args { x: &x, bias: Some(&bias), out: &mut out }).launch(&stream)?;
//! assert_eq!(out.to_vec(&stream)?, [2.5; 3200]);
//! affine(affine::Args { x: &x, bias: None, out: &mut out }).launch(&stream)?;
//! assert_eq!(out.to_vec(&stream)?, [2.0; 3200]);
//! # Ok::<(), kiln::Error>(())
//! ```
//!
//! Such a parameter is taken apart by `if let Some(bias) = bias`, also joined with other conditions by `&&`, by `match`, and by
//! `let Some(bias) = bias else { .. }`. `bias.is_some()` and `bias.is_none()` are known at compile time. It can be given to
//! functions, which take `Option<Tensor<f32, 1>>`, and kept in variables and structs. No other value is an `Option` (K0101,
//! K0102). In `grid`, an optional tensor is an `Option` of a reference: `grid = match bias { Some(bias) => bias.dim(0), None => 1 }`.
//! A host that keeps the tensor in an `Option` passes `self.bias.as_ref().map(|bias| bias as _)`.
//!
//! An array or a struct that is absent is absent as a whole, and counts as one of the four: `xs: Option<[Tensor<f32, 1>; 3]>`,
//! `layer: Option<Layer>`. At least one argument in it has to be no `Option` itself, which tells `Some` from `None` (K0602). Where the types of
//! the arguments are checked by the launch (`with_arguments`), each of its arguments is `None`.
//!
//! # Arrays, structs and tables of pointers
//!
//! **An array of tensors** is a parameter of the type `[Tensor<f32, 2>; N]`. The length is a number or a const generic of the type
//! `usize`, so that each length is an instance of its own; elsewhere in the kernel it is `N as i32`, or `xs.len() as i32`. `for x in xs`
//! has an iteration for each tensor, and `xs[i as usize]` is one of them for an `i` that is known at compile time, as in
//! [`unroll`]. An index that is known only at run time chooses among scalars and pointers, not among tensors (K0106): compare it in an
//! unrolled loop. The elements are not `Option`s (K0602); the whole array may be one. A function that takes such an array, `fn total<const K: usize>(xs: [Tensor<f32, 1>; K])`,
//! is called without `K`.
//!
//! ```
//! use kiln::prelude::*;
//!
//! #[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), 128), instances(N = [2, 3]))]
//! fn mean<const N: usize>(xs: [Tensor<f32, 1>; N], out: TensorMut<f32, 1>) {
//!     let at = block_id(0) * 128;
//!     let mut sum = zeros::<f32>([128]);
//!     for x in xs {
//!         sum += x.tile([at], [128]).load();
//!     }
//!     out.tile([at], [128]).store(sum / N as f32);
//! }
//!
//! let stream = Device::emulator(Target::Sm80)?.stream()?;
//! let (x, y) = (stream.full([200], 1.0)?, stream.full([200], 4.0)?);
//! let mut out = stream.zeros([200])?;
//! mean::<2>(mean::Args { xs: [&x, &y], out: &mut out }).launch(&stream)?;
//! assert_eq!(out.to_vec(&stream)?, [2.5; 200]);
//! # Ok::<(), kiln::Error>(())
//! ```
//!
//! **A tensor of pointers** is a parameter of the type `Tensor<Ptr<f32>, 1>`, for work on many matrices whose number is known only at run
//! time. A load of it gives a tile of addresses, and `.item()` one of them; `load` and `store` read and write there. A `TensorMut` takes them
//! too. The host makes such a tensor of [`DevicePtr`](crate::DevicePtr)s. The launch is unsafe, as with a pointer: nobody knows which
//! memory the addresses name, how long it lives, and whether something else writes it.
//!
//! ```
//! use kiln::prelude::*;
//!
//! /// Doubles `lengths[i]` elements from `xs[i]` on.
//! #[kernel(target = sm_80, warps = 4, grid = xs.dim(0))]
//! fn double(xs: Tensor<Ptr<f32>, 1>, lengths: Tensor<i32, 1>) {
//!     let x = xs.tile([block_id(0)], [1]).load().item();
//!     let length = lengths.tile([block_id(0)], [1]).load().item();
//!     for at in range(0, length, 128) {
//!         let index = at + arange(0, 128);
//!         let inside = index.lt(length);
//!         store_masked(x + index, inside, load_masked(x + index, inside, 0.0) * 2.0);
//!     }
//! }
//!
//! let stream = Device::emulator(Target::Sm80)?.stream()?;
//! let (a, b) = (stream.full([300], 1.0f32)?, stream.full([7], 2.0f32)?);
//! let xs = stream.upload(&[a.device_ptr(), b.device_ptr()], [2])?;
//! let lengths = stream.upload(&[300, 7], [2])?;
//! // SAFETY: `a` and `b` have these lengths, live until the kernel has run, and nothing else uses them.
//! unsafe { double(double::Args { xs: &xs, lengths: &lengths }).launch(&stream)? };
//! assert_eq!(a.to_vec(&stream)?, [2.0; 300]);
//! assert_eq!(b.to_vec(&stream)?, [4.0; 7]);
//! # Ok::<(), kiln::Error>(())
//! ```
//!
//! **A struct of tensors** stands in the `#[kernel] mod` of its kernels. Its fields are what parameters may be, and other such structs;
//! attributes such as `#[stride(_, 1)]` stand before its fields. For the host there is a struct beside it, `LayerArgs` for `Layer`, which has
//! references in the place of tensors and is filled in like a kernel's own `Args`:
//!
//! ```
//! use kiln::prelude::*;
//!
//! #[kernel]
//! mod layers {
//!     use kiln::prelude::*;
//!
//!     pub struct Layer {
//!         scale: Tensor<f32, 1>,
//!         bias: Option<Tensor<f32, 1>>,
//!     }
//!
//!     impl Layer {
//!         fn apply(self, x: Tile<f32>, at: i32) -> Tile<f32> {
//!             let y = x * self.scale.tile([at], [128]).load();
//!             let Some(bias) = self.bias else { return y };
//!             y + bias.tile([at], [128]).load()
//!         }
//!     }
//!
//!     #[kernel(target = sm_80, warps = 4, grid = cdiv(layer.scale.dim(0), 128))]
//!     pub fn forward(layer: Layer, x: TensorMut<f32, 1>) {
//!         let at = block_id(0) * 128;
//!         let window = x.tile([at], [128]);
//!         window.store(layer.apply(window.load(), at));
//!     }
//! }
//! use layers::{LayerArgs, forward};
//!
//! let stream = Device::emulator(Target::Sm80)?.stream()?;
//! let (scale, mut x) = (stream.full([200], 3.0)?, stream.full([200], 0.5)?);
//! let layer = LayerArgs { scale: &scale, bias: None };
//! forward(forward::Args { layer, x: &mut x }).launch(&stream)?;
//! assert_eq!(x.to_vec(&stream)?, [1.5; 200]);
//! # Ok::<(), kiln::Error>(())
//! ```
//!
//! The launch checks each tensor as one that is a parameter by itself, and its errors name it: `xs[1]`, `layer.bias`. Arguments whose types
//! the launch checks (`with_arguments`) stand one after the other. The parameters of an entry have 4096 bytes at most: 128 tensors of
//! two axes (K0602).
//!
//! # The grid
//!
//! A launch runs a grid of blocks with one to three axes; all blocks execute the same kernel. The kernel gives the number of
//! blocks as a host expression over its arguments and generic parameters, `grid = [cdiv(x.dim(0), M), 4]`. The caller may
//! override it with [`Launch::grid`](crate::Launch::grid). If neither gives it, the launch is an error.
//!
//! `grid = persistent(tiles)` starts as many blocks as the device holds at once, at most `tiles`. Each block loops over its
//! share of the tiles:
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
//! On Blackwell a block that is done may instead take over the work of one that has not started: [`cluster::try_cancel`].
//!
//! # How layouts are chosen
//!
//! A [layout](Layout) says which thread holds which element of a tile, in which register. It decides the speed of a kernel.
//! It does not change values, except that the order of [reductions](Tile#reductions) decides how floats round. The compiler
//! chooses all layouts of a kernel together. Layouts start at the operations listed below and spread over elementwise
//! operations, reductions, loops and branches to tiles that have none yet. The first layout to reach a tile stays:
//!
//! 1. layouts pinned with [`to_layout`](Tile::to_layout);
//! 2. results of [`dot`], in the layout [`mma`], and then the operands that do not come from global memory;
//! 3. reads of global memory, those of most bytes first: neighbouring lanes read neighbouring addresses, up to 16 bytes each;
//! 4. writes to global memory, likewise;
//! 5. all other tiles, the largest first, by rows.
//!
//! A large read or write refuses a layout in which its lanes would access less than 32 bytes of a row. Indices, masks and
//! constants (from [`arange`], [`full`], scalars), and tiles read from shared memory, are computed or read again for each
//! layout that needs them. The layout of shared memory follows its uses: rows of 16 bytes for `ldmatrix`, runs of 16 bytes
//! for copies, and a swizzle against bank conflicts.
//!
//! # Conversions
//!
//! If an operation needs a tile in another layout, the compiler inserts a conversion before it, outside of loops that do not
//! change the tile. From cheapest to most expensive:
//!
//! | what moves | PTX |
//! |---|---|
//! | nothing, or registers of one thread | none |
//! | each thread has its elements, in registers that depend on its lane or warp | `selp` |
//! | elements within a warp, in up to 16 words | `shfl.sync.idx.b32` (and `selp` if the register depends on the lane) |
//! | everything else | `st.shared`, `bar.sync 0`, `ld.shared`, up to 16 bytes at a time, in scratch next to the allocations |
//!
//! Scratch counts towards the block's shared memory (K0501) and reuses allocations that are no longer needed.
//! [`assert_layout`](Tile::assert_layout) makes sure that there is no conversion, in both variants of a kernel. A load may
//! have different layouts for aligned and other tensors; after `.load().to_layout(..)` it has the same in both.
//! `KILN_DUMP=DIR cargo build` writes the layouts of a kernel, and `kiln inspect --layouts DIR` shows them with the cost of
//! each conversion and of each access to shared memory (PTX ISA, "shfl.sync", "bar.sync").
//!
//! # Accesses
//!
//! One access of a thread moves up to 16 bytes. It moves several elements if one thread holds them and the compiler knows
//! that they are contiguous, aligned as a group, and all inside or all outside the tensor. It learns this from
//! `#[multiple_of]`, `#[stride]` and what follows from them for offsets. In the aligned variant, which the launch takes if it
//! fits, tensors and pointers begin at multiples of 16 bytes, the last axis is contiguous, and rows are multiples of 16
//! bytes. Of a tensor whose windows are narrower along that axis it asks for less, and for no alignment at all where they are one
//! element wide, as a scale of each row is.
//!
//! | elements | instruction, for each 16, 8 or 4 bytes |
//! |---|---|
//! | `f32` | `ld.global.v4.f32`, `.v2.f32`, `.f32` |
//! | `f64`, 64-bit integers | `ld.global.v2.f64`, `.v2.b64`; `.f64`, `.b64` |
//! | all others | `ld.global.v4.b32`, `.v2.b32`, `.b32`, and fewer bytes as `.b16`, `.s16`, `.u16`, `.s8`, `.u8` |
//!
//! Writes are `st.global`, shared memory is `ld.shared` and `st.shared`, in the same widths (PTX ISA, "ld", "st"). If several
//! threads hold an element, one of them writes it. An access that may not take place is predicated, `@%p0 ld.global.v4.f32`,
//! and its result is set before.
//!
//! # While it runs
//!
//! `println!` and `print!` write what a kernel computes to the standard output, and `assert!`, `assert_eq!` and `assert_ne!` stop it
//! where something does not hold; their `debug_` forms do the same. They take the format strings of Rust, with numbers for width
//! and precision.
//!
//! ```
//! use kiln::prelude::*;
//!
//! #[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), 128))]
//! fn normalize(x: TensorMut<f32, 1>) {
//!     let at = block_id(0) * 128;
//!     let tile = x.tile([at], [128]).load();
//!     let sum = tile.sum(0).item();
//!     println!("block {}: the sum is {sum:.3}", block_id(0));
//!     println!("{tile:>8.2} of {sum}"); // [0]     1.00 of 128, [1]     1.00 of 128, ..
//!     assert!(sum > 0.0, "nothing but zeros at {at}");
//!     x.tile([at], [128]).store(tile / sum);
//! }
//!
//! let stream = Device::emulator(Target::Sm80)?.stream()?;
//! let mut x = stream.upload(&[1.0f32; 128], [128])?;
//! normalize(normalize::Args { x: &mut x }).launch(&stream)?;
//! let mut zeros = stream.zeros::<f32, 1>([128])?;
//! # #[cfg(debug_assertions)]
//! let error = normalize(normalize::Args { x: &mut zeros }).launch(&stream).unwrap_err();
//! # #[cfg(debug_assertions)]
//! assert!(error.to_string().ends_with("in block (0, 0, 0): nothing but zeros at 0"), "{error}");
//! # Ok::<(), kiln::Error>(())
//! ```
//!
//! **What is written.** Numbers, `bool`, addresses (`{:?}`, `{:p}`) and tiles of these. A text with scalars alone is written once by
//! each block, or by each partition that comes by. A text with tiles, which have one shape then, is written once for each of their
//! elements, after its index: `[3, 5] `. Of a value that differs between threads, which only [`ptx!`](crate::prelude::ptx) gives,
//! the first thread's is written. The texts of a block stand together, in the order of the kernel as far as one thread writes a part of
//! both; what different warps write alone may come in any order.
//!
//! **Assertions.** A condition is one `bool` for the block; [`device_assert`] takes masks. The launch returns
//! [`Error::Assertion`](crate::Error::Assertion), with the condition, the line, the block and the text. Its values are computed
//! before the condition is looked at. The first thread that fails stops the kernel, so that some of what other threads print before that
//! line may be missing. A condition that is known when the kernel is compiled is judged then (K0208).
//!
//! **When.** They are there in builds with `debug_assertions`. In others the kernel is compiled without them, and their operands
//! are not computed; with `#[kernel(.., debug = always)]` they are there in all builds. `device_assert` always is. A kernel that
//! says anything has run when its launch returns, on a GPU too: it must not wait for work that is launched later. Launches that
//! are recorded into a graph print nothing, and an assertion that fails there stops the kernel without a text.
//!
//! **How much.** A launch has 1 MiB for all its texts. Each takes 24 bytes, and 8 for each value of the kernel's longest text: there
//! is room for 28672 texts of one value. Of those that find none the number is written. Failed assertions have memory of their own.
//!
//! **PTX.** For each text or element `atom.global.add.u64`, which takes a place in that memory, and a `st.global` for each value; for
//! an assertion the same and `trap`, if it fails. No operation waits for them, and they order nothing.
//!
//! **Errors.** K0101 for a text that is no format string, K0107 for more or fewer values than places, K0202 for tiles of different
//! shapes, K0204 for a value that its place does not write, K0206 for shared memory, barriers and tensors, for a tile in an
//! assertion, and K0208.
//!
//! # Errors
//!
//! A mistake in a kernel is an error of `cargo build`. It underlines the smallest expression, shows required and actual
//! facts, and usually a fix. Its code has a page: `cargo run -p kiln-gpu-cli -- explain K0202`. The first two digits of a code
//! are its area: 01 Rust that a kernel cannot use, 02 shapes and element types, 03 layouts, 04 memory, 05 limits of the
//! hardware, 06 the host's side.
//!
//! Each item lists its own codes. All of them can also raise K0102 for an unknown name, K0106 for an argument that must be
//! known at compile time, K0107 for a wrong number of arguments, K0108 for a method that a value lacks, K0203 for element types
//! that differ, and, if they make a tile, K0504 for one that is too large.
//!
//! | code | title |
//! |---|---|
//! | K0101 | Rust that is not part of the kernel language |
//! | K0102 | a name that nothing defines |
//! | K0103 | a function that calls itself |
//! | K0104 | a kernel signature that cannot be launched |
//! | K0105 | an unknown or malformed attribute |
//! | K0106 | a value that must be known at compile time |
//! | K0107 | a wrong number of arguments |
//! | K0108 | something that cannot be called or has no such method or field |
//! | K0109 | compile-time work beyond the limits |
//! | K0110 | an assignment to a variable that cannot change |
//! | K0111 | a text of `ptx!` that is not PTX or does not fit its operands |
//! | K0201 | a tile extent that is not a power of two |
//! | K0202 | shapes that do not fit together |
//! | K0203 | element types that do not fit together |
//! | K0204 | an element type that the operation does not take |
//! | K0205 | an axis or a rank out of range |
//! | K0206 | a tile where a scalar is required, or the other way round |
//! | K0207 | a constant out of range |
//! | K0208 | a compile-time assertion that fails |
//! | K0209 | branches or loop iterations that give different types |
//! | K0210 | operands of a product that do not fit together |
//! | K0301 | a layout that does not fit the tile or the block |
//! | K0302 | a layout that a product cannot use |
//! | K0303 | a tile that does not have the asserted layout |
//! | K0306 | a layout from which no gather or scatter can take row numbers |
//! | K0307 | layouts between which `tcgen05.cp` cannot copy |
//! | K0401 | a write to a read-only tensor |
//! | K0402 | shared memory used in a way it does not allow |
//! | K0403 | an allocation inside a loop or branch |
//! | K0404 | a copy that no instruction does, or an option that it does not have |
//! | K0405 | a loop whose copies cannot be pipelined |
//! | K0406 | a value that differs from thread to thread where the block needs one value |
//! | K0407 | a call of `warp_specialize` where it cannot stand |
//! | K0408 | a tile or variable from outside that a partition cannot use |
//! | K0409 | a tensor map that the hardware does not have |
//! | K0410 | memory or an accumulator used while a product in flight needs it |
//! | K0411 | a barrier that expects another number of bytes than the copies deliver |
//! | K0412 | a bulk copy that the hardware does not have |
//! | K0414 | tensor memory used in a way it does not allow |
//! | K0416 | a gather or a scatter that the hardware does not have |
//! | K0417 | shared memory used while a copy in flight needs it |
//! | K0418 | two accesses of shared or tensor memory that nothing orders |
//! | K0419 | a wait for another phase of a barrier than the one that matters |
//! | K0420 | a wait that never ends |
//! | K0421 | a phase of a barrier with more or fewer arrivals or bytes than it counts |
//! | K0422 | memory of a block that another block of the cluster may still use |
//! | K0423 | a kernel that ends while something is in flight |
//! | K0424 | global memory used before the grids before this one have ended |
//! | K0501 | more shared memory than a block can have |
//! | K0502 | an unknown target, or one without the required feature |
//! | K0503 | a number of warps that a block cannot have |
//! | K0504 | a tile with more elements than registers can hold |
//! | K0505 | partitions that a block cannot have |
//! | K0506 | more registers than a multiprocessor has |
//! | K0507 | an impossible cluster, or a block outside the cluster |
//! | K0508 | a named barrier that a block does not have |
//! | K0510 | more tensor memory than a multiprocessor has |
//! | K0511 | products of pairs and products of single blocks in one kernel |
//! | K0601 | an instance list that does not fit the generic parameters |
//! | K0602 | a parameter type that cannot be passed to a kernel |
//! | K0603 | a fact about a parameter that cannot hold |
//! | K0901 | a gather or a scatter that leaves warps idle |
//! | K9999 | a bug of the compiler |
//!
//! # These items as Rust
//!
//! The functions and methods of this module have types but no implementation. `#[kernel]` compiles
//! the body of a kernel to PTX, and `rustc` checks it once more against these items, so that hover,
//! completion and lints work. Calling one of them on the host panics, except [`cdiv`] and the scalar
//! methods of [`Float`] and [`Cast`], which work on the host too.
#![expect(unused_variables, reason = "the parameters of a stub are named for its reader")]
#![expect(
    clippy::semicolon_if_nothing_returned,
    clippy::needless_pass_by_value,
    reason = "every stub has the same body, which uses nothing"
)]

/// Makes handles of things on the device `Copy`, whatever their parameters are.
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

mod said;

mod scalar;

mod integer;

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

pub(crate) mod target;

mod ptx;

pub use half::{bf16, f16};
pub use kernel_runtime::formats::*;

pub use array::{Array, array};
pub use barrier::{Barrier, Barriers, barrier, barriers};
pub use control::{device_assert, pipeline, range, sync, unroll};
pub use copy::{
    CopyDestination, CopySource, Copying, copy_async, copy_async_commit, copy_async_masked,
    copy_async_wait, copy_async_wait_all, fence_async,
};
pub use elementwise::{fma, maximum, minimum, select};
pub use grid::{
    block_id, cdiv, grid_dependency_wait, grid_dim, launch_dependents, num_blocks, num_warps,
};
pub use integer::{Bits, Int};
pub use layout::{
    Layout, TileAxis, TilePart, blocked, dot_operand, linear, mma, row_major, shared_linear, slice,
    swizzle, swizzled, tmem_block, tmem_load,
};
pub use named::{NamedBarrier, named_barrier};
pub use pointer::{Address, Ptr, load, load_masked, store, store_masked};
pub use product::{Matrix, dot, dot_scaled, dot_sparse, dot_sparse_tf32, dot_tf32};
#[doc(hidden)]
pub use ptx::{OnScalars, OnTiles, PtxCall, PtxKind, PtxOperand, PtxOutput};
#[doc(hidden)]
pub use said::in_phase;
pub use scalar::{Cast, Float, Number, Operand, Scalar};
pub use shared::{Indices, Shared, shared};
pub use specialize::{Partition, PartitionBuilder, partition, warp_specialize};
pub use target::*;
pub use tensor::{AxisRange, Ranges, Tensor, TensorMap, TensorMapMut, TensorMut, View, ViewMut};
pub use tensor_memory::{Tmem, tmem};
pub use tile::{Axes, Shape, Tile, Tiles, arange, full, join, zeros};

/// The body of everything that exists only on the device.
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
