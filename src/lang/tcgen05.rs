//! The tensor cores of data-centre Blackwell: products that accumulate in tensor memory. On a target without tensor memory, or
//! without products of integers there, the message names the targets that have them (K0502).
//!
//! One thread starts products and copies to tensor memory, and goes on. [`commit`] signals a barrier when everything
//! that was started before it is done. Copies and products run in the order in which they start, and so do products of
//! one kind and shape with the same accumulator.
//!
//! A commit and a wait are needed before a product that reads what another product in flight writes, that writes what
//! it reads, or that adds to its accumulator with another shape or kind (PTX ISA, "tcgen05 Memory Consistency Model");
//! and before threads read or write such memory. If the wait is provably missing, it is an error (K0410). Whether a
//! conditional wait, the phase of a wait, or a wait for one of several tiles is the right one is known only at run
//! time: the emulator checks that.
//!
//! In [`mma_pair`], [`mma_scaled_pair`] and [`mma_sparse_pair`] the tensor cores of two blocks multiply together.
//!
//! | operands | one block | a pair of blocks |
//! |---|---|---|
//! | as they are | [`mma`] | [`mma_pair`] |
//! | with a scale for each block of neighbours along `k` | [`mma_scaled`] | [`mma_scaled_pair`] |
//! | a left one of which half is zeros (2:4 sparsity) | [`mma_sparse`] | [`mma_sparse_pair`] |

use super::barrier::Barrier;
use super::copy::Copying;
use super::product::Matrix;
use super::scalar::{Number, Scalar};
use super::shared::Shared;
use super::stub;
use super::tensor_memory::Tmem;

/// Starts the product `a · b + acc`, of shapes `(M, K) · (K, N) + (M, N)`, and goes on.
///
/// | `a`, `b` | `acc` |
/// |---|---|
/// | `f16` | `f32`, `f16` |
/// | `bf16` | `f32` |
/// | `f32`, of which 19 bits count (tf32) | `f32` |
/// | `i8`, `u8`, either with either | `i32` |
/// | `e4m3`, `e5m2`, `e2m1x2`, `e2m3x16`, `e3m2x16`, each with each | `f32`, `f16` |
///
/// FP4 operands, `e2m1x2`, have two numbers along `k` in each element: where the other operand has K elements, they
/// have K / 2. In shared memory they are [padded](super::Layout::fp4_padded) by default, contiguous along `k`, which is
/// a multiple of 128 numbers.
///
/// FP6 operands, `e2m3x16` and `e3m2x16`, have sixteen numbers along `k` in each element of twelve bytes: where another
/// operand has K elements, they have K / 16. [`tma::load`](super::tma::load) writes them to shared memory, where an element
/// takes up sixteen bytes, by default in the layout [`swizzle(128)`](super::swizzle()). They are contiguous along `k`,
/// which is a multiple of 128 numbers. No register holds such an element, and neither does tensor memory: a kernel that
/// makes FP6 numbers writes `u32`, three for each element.
///
/// These are the kinds f16 (for `f16` and `bf16`), tf32, i8 and f8f6f4 of the hardware.
///
/// M is 64 or a multiple of 128, K a multiple of 32 bytes, N at least 8 (16 if M is 128 or more). All are powers of
/// two, like all extents of tiles. One instruction has up to 128 rows and 256 columns; larger products take several.
/// For other widths use several products. `b` is in shared memory, `a` in shared or in tensor memory. Operands of 8 and
/// 16 bits may be transposed with `.t()`; with 32 bits `k` is contiguous: `a` of `[m, k]`, and `b.t()` with `b` of
/// `[n, k]`.
///
/// With [`accumulate(false)`](Multiplying::accumulate) the product overwrites the accumulator. Until a barrier says
/// that the product is done, do not overwrite `a` and `b`, and do not read the accumulator.
///
/// # Layout
/// The layout of the accumulator decides which instruction multiplies: [`tmem`](super::tmem).
///
/// # PTX
/// `tcgen05.mma.cta_group::1.kind::f16` and the like, for each block of the accumulator and each 32 bytes along `k`
/// (PTX ISA, "tcgen05.mma").
///
/// # Errors
/// K0502 on other targets, K0206 for an operand in other memory, K0210 for extents, K0203 and K0204 for element types,
/// K0302 for an operand that no descriptor describes and for an accumulator in the columns of a left operand, K0410 if
/// the kernel can end before it is done, K0405 if an iteration of a pipelined loop can, K0402 for a whole ring or a
/// window of another block, K0414 for several tiles at once, K0511 in a kernel of pairs, K0417 for an operand that a copy in
/// flight may still write, K0418 and K0422 for memory that another part of the kernel or another block may still use.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn product(a: Shared<bf16>, b: Shared<bf16>, done: Barrier) -> Tile<f32> {
///     let acc = tmem::<f32>([128, 128]);
///     tcgen05::mma(a, b.t(), acc).accumulate(false);
///     tcgen05::commit(done);
///     done.wait(0);
///     acc.load()
/// }
/// ```
pub fn mma<T: Scalar, U: Scalar, A: Number>(
    a: impl Matrix<T>,
    b: Shared<U>,
    acc: Tmem<A>,
) -> Multiplying {
    stub()
}

/// Starts one product of a pair of blocks, whose tensor cores multiply together, and goes on.
///
/// Two blocks of a cluster whose ranks differ only in the last bit are a pair. Of the product (M, K) · (K, N) + (M, N)
/// each block holds M / 2 rows of the left operand, `a` of `[M / 2, K]`, and of the accumulator, `acc` of `[M / 2, N]`;
/// and N / 2 columns of the right operand, `b` of `[K, N / 2]`. The block of even rank has the first half of each. So
/// one block loads each half of the right operand, and both read it.
///
/// In a kernel with such products, the block of even rank starts them for both and [commits](commit); in the block of
/// odd rank these statements do nothing. So only the even block has to wait for the operands, whichever block has
/// loaded them: a [`tma::load`](super::tma::load) of the odd block completes on a barrier of the even one,
/// `full.of_block(cluster::rank() & !1)`. Operands and accumulators are at the same places in both blocks, given by the
/// even block. A commit with [`multicast`](Committing::multicast) signals both blocks. The tensor cores are ordered
/// after what threads have written to shared memory or the accumulator, or read of the accumulator, when the blocks
/// have synchronised ([`cluster::sync`](super::cluster::sync())), or when one has arrived at a barrier on which the
/// even one waits.
///
/// M / 2 is 64 or 128, N 32 to 256. Element types, transposed operands and everything else are as for [`mma`]. `b` is
/// in shared memory, `a` in shared memory or, with 128 rows in each block, in tensor memory.
///
/// # Layout
/// With 128 rows in each block, that of a product of one block. With 64, the right half of the columns is in rows 64 to
/// 127 of tensor memory.
///
/// # PTX
/// `tcgen05.mma.cta_group::2.kind::f16` and the like, for each 32 bytes along `k`; all other `tcgen05` instructions of
/// the kernel are `.cta_group::2` too (PTX ISA, "tcgen05.mma"). The blocks synchronise before they free tensor memory,
/// and so before they end.
///
/// # Errors
/// Those of [`mma`], K0507 for a kernel whose clusters have no pairs, K0511 for one that also has products of single
/// blocks.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// The rows of this block, of a product of 256 by 128.
/// fn product(a: Shared<bf16>, b: Shared<bf16>, done: Barrier) -> Tile<f32> {
///     let acc = tmem::<f32>([128, 128]);
///     cluster::sync(); // both blocks have written their `a` of [128, 64] and `b` of [64, 64]
///     tcgen05::mma_pair(a, b, acc).accumulate(false);
///     tcgen05::commit(done).multicast(0b11);
///     done.wait(0);
///     acc.load()
/// }
/// ```
pub fn mma_pair<T: Scalar, U: Scalar, A: Number>(
    a: impl Matrix<T>,
    b: Shared<U>,
    acc: Tmem<A>,
) -> Multiplying {
    stub()
}

/// Starts the block-scaled product `a · b + acc`, of shapes `(M, K) · (K, N) + (M, N)`, and goes on. Each block of
/// neighbours along `k` has one scale, by which the sum of their products is multiplied.
///
/// | `a`, `b` | elements | `a_scales`, `b_scales` | elements in a block | |
/// |---|---|---|---|---|
/// | `e4m3`, `e5m2`, either with either | one number | `ue8m0`: powers of two | 32 | MXFP8 |
/// | `e4m3` or `e5m2` with `e2m1x2`, on either side | two FP4 numbers, [padded](super::Layout::fp4_padded) | `ue8m0` | 32 | MXFP8 by MXFP4 |
/// | `e2m3x16`, `e3m2x16`, with each other, `e4m3`, `e5m2` or `e2m1x2` | sixteen FP6 numbers, by TMA | `ue8m0` | 32 | MXFP6 |
/// | `e2m1x2` | two FP4 numbers, the first in the lower half | `ue8m0` | 32 | MXFP4 |
/// | `e2m1x2` | the same | `e4m3` without a sign, or `ue8m0` | 16 | NVFP4 |
///
/// `b` is in shared memory, `a` in shared memory or, except for padded FP4 and FP6, in tensor memory. Two FP4 numbers are one
/// element, so extents along `k` are half as large. FP4 is contiguous along `k`: `a` of `[m, k / 2]`, and `b.t()` with
/// `b` of `[n, k / 2]`; FP6 likewise, with `k / 16`. A `ue8m0` scale is 2 to the power of its bits minus 127. The accumulator is `f32`.
///
/// `a_scales` of `(M, K / block)` and `b_scales` of `(N, K / block)` are in tensor memory, written by [`copy`] or
/// [`Tmem::store`]. M is a multiple of 128, N at least 16 (32 if the accumulator has several blocks along N), K
/// at least four blocks.
///
/// # Layout
/// Tensor memory for scales has their layout by default: four along `k` in a column, 32 rows of the operand in 32 rows,
/// and a copy for each warp. With fewer than 128 rows, the scales of four blocks are too short for a copy, so store
/// them. In the shared memory from which it is copied, a block of 128 rows by four scales is 512 bytes: scale `j` of
/// row `m` is byte `(m % 32) · 16 + (m / 32) · 4 + j`. Scales that have this order in a tensor can be loaded with TMA
/// as 32 rows of 16 bytes: copy them to `tmem::<ue8m0>([32, 16])` with the layout
/// `layout!(S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane])`; its `.view::<ue8m0>([128, 4])` is the scales.
///
/// # PTX
/// `tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X`, `kind::mxf4` with `scale_vec::2X`, `kind::mxf4nvf4` with `scale_vec::4X` (PTX
/// ISA, "tcgen05.mma": `.block_scale`).
///
/// # Errors
/// K0502 on other targets, K0206 for an operand in other memory, K0204 for element types, K0210 for extents, K0302 for
/// layouts that no instruction reads, K0410 if the kernel can end before it is done, K0405 if an iteration of a
/// pipelined loop can, K0402 for a whole ring or a window of another block, K0414 for several tiles at once, K0511 in a
/// kernel of pairs, for which there is [`mma_scaled_pair`].
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// 128 along `k`: four scales for each row and column.
/// fn step(a: Shared<e4m3>, b: Shared<e4m3>, of_a: Shared<ue8m0>, of_b: Shared<ue8m0>, acc: Tmem<f32>) {
///     let a_scales = tmem::<ue8m0>([128, 4]);
///     let b_scales = tmem::<ue8m0>([128, 4]);
///     tcgen05::copy(of_a, a_scales);
///     tcgen05::copy(of_b, b_scales);
///     tcgen05::mma_scaled(a, b.t(), acc, a_scales, b_scales);
/// }
/// ```
pub fn mma_scaled<T: Scalar, U: Scalar, S: Scalar>(
    a: impl Matrix<T>,
    b: Shared<U>,
    acc: Tmem<f32>,
    a_scales: Tmem<S>,
    b_scales: Tmem<S>,
) -> Multiplying {
    stub()
}

/// Starts one block-scaled product of a pair of blocks, whose tensor cores multiply together, and goes on.
///
/// The blocks share the operands and the accumulator as in [`mma_pair`]: each has `a` of `[M / 2, K]`, `b` of `[K, N / 2]` and
/// `acc` of `[M / 2, N]`. Each block holds the scales of its own rows, `a_scales` of `(M / 2, K / block)`, and the scales of
/// all columns, `b_scales` of `(N, K / block)`: both blocks hold the same `b_scales`. So each block loads the scales of all
/// columns, or one loads them for both with [`multicast`](super::copy::Copying::multicast).
///
/// M / 2 is 128, N 32 to 256. Element types, the numbers that have one scale, K and the layouts of the scales are those of
/// [`mma_scaled`].
///
/// In a kernel with such products the block of even rank starts [copies](copy()) for both blocks: each block's tensor
/// memory is written from its own shared memory, so both blocks have filled the source before the even one starts the copy.
///
/// # Layout
/// That of [`mma_scaled`], in each block.
///
/// # PTX
/// `tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale.scale_vec::1X`, `kind::mxf4` with `scale_vec::2X`, `kind::mxf4nvf4` with `scale_vec::4X` (PTX
/// ISA, "tcgen05.mma": `.block_scale`, `.cta_group`).
///
/// # Errors
/// Those of [`mma_scaled`], K0507 for a kernel whose clusters have no pairs, K0511 for one that also has products of single
/// blocks.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// The rows of this block, of a product of 256 by 128 with 128 along `k`.
/// fn step(a: Shared<e4m3>, b: Shared<e4m3>, of_a: Shared<ue8m0>, of_b: Shared<ue8m0>, acc: Tmem<f32>) {
///     let a_scales = tmem::<ue8m0>([128, 4]);
///     let b_scales = tmem::<ue8m0>([128, 4]);
///     cluster::sync(); // both blocks have written `a` of [128, 128], `b` of [64, 128] and their scales
///     tcgen05::copy(of_a, a_scales);
///     tcgen05::copy(of_b, b_scales);
///     tcgen05::mma_scaled_pair(a, b.t(), acc, a_scales, b_scales);
/// }
/// ```
pub fn mma_scaled_pair<T: Scalar, U: Scalar, S: Scalar>(
    a: impl Matrix<T>,
    b: Shared<U>,
    acc: Tmem<f32>,
    a_scales: Tmem<S>,
    b_scales: Tmem<S>,
) -> Multiplying {
    stub()
}

/// Starts the product `a · b + acc` of an `a` of which half is zeros, and goes on. An instruction multiplies twice the columns that one of
/// [`mma`] does.
///
/// `a` has the kept half of each row, of shape `(M, K / 2)`; `b` is `(K, N)` and `acc` is `(M, N)`. `metadata`, of `u16`, says where the kept
/// elements were, in the form that [`dot_sparse`](super::dot_sparse) describes, and that [`sparse::compress`](crate::sparse::compress) makes
/// on the host:
///
/// | `a`, `b` | kept | shape of `metadata` | K is a multiple of | `acc` |
/// |---|---|---|---|---|
/// | `f16` | two of four | `(M, K / 16)` | 64 | `f32`, `f16` |
/// | `bf16` | two of four | `(M, K / 16)` | 64 | `f32` |
/// | `f32`, of which 19 bits count (tf32) | one of two | `(M, K / 8)` | 32 | `f32` |
/// | `i8`, `u8`, either with either | two of four | `(M, K / 16)` | 64 | `i32` |
/// | `e4m3`, `e5m2`, either with either | two of four | `(M, K / 16)` | 64 | `f32`, `f16` |
///
/// Metadata is in tensor memory: [`Tmem::store`] writes a tile of it there, or [`copy`] copies one of at least eight columns from shared
/// memory. For other bits than those that `compress` makes the result is undefined; the emulator stops there. Elements of `b` at places
/// that are not kept are not multiplied: a NaN there does not reach the result. Until a barrier says that the product is done, do not
/// overwrite the metadata.
///
/// M is a multiple of 128, N at least 16. Where `a` and `b` are and which may be transposed is as for [`mma`]. A swizzle of `b` that is
/// contiguous along `k` has at least 64 bytes.
///
/// # Layout
/// That of [`mma`]. Tensor memory for metadata of `C` columns has a layout of its own by default. Of operands of 8 bits each row of metadata
/// has a row of tensor memory, for 128 rows `layout!(S[(128, C) : (1 @ TLane, 1 @ TCol)])`. Of the others, rows that are eight apart share
/// words of 32 bits, and two adjacent columns are in two rows of tensor memory:
/// `layout!(S[(8, 2, 8, C / 2, 2) : (16 @ TLane, 1 @ TCol, 1 @ TLane, 2 @ TCol, 8 @ TLane)])`.
///
/// # PTX
/// `tcgen05.mma.sp.cta_group::1.kind::f16` and the like, for each 32 bytes of `a` along `k` and 64 of `b` (PTX ISA, "tcgen05.mma.sp").
///
/// # Errors
/// Those of [`mma`]; K0206, K0204 and K0210 also for metadata that is not in tensor memory, not `u16` or of another shape.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// 64 columns of weights, of which 32 are kept.
/// fn product(kept: Shared<bf16>, described: Tile<u16>, x: Shared<bf16>, done: Barrier) -> Tile<f32> {
///     let metadata = tmem::<u16>([128, 4]);
///     let acc = tmem::<f32>([128, 64]);
///     metadata.store(described);
///     tcgen05::mma_sparse(kept, metadata, x, acc).accumulate(false);
///     tcgen05::commit(done);
///     done.wait(0);
///     acc.load()
/// }
/// ```
pub fn mma_sparse<T: Scalar, U: Scalar, A: Number>(
    a: impl Matrix<T>,
    metadata: Tmem<u16>,
    b: Shared<U>,
    acc: Tmem<A>,
) -> Multiplying {
    stub()
}

/// Starts one sparse product of a pair of blocks, whose tensor cores multiply together, and goes on.
///
/// The blocks share the operands and the accumulator as in [`mma_pair`]: each has `a` of `[M / 2, K / 2]`, `b` of `[K, N / 2]` and `acc` of
/// `[M / 2, N]`, and the metadata of its own rows. M / 2 is 128, N 32 to 256. Element types, K and metadata are those of [`mma_sparse`].
///
/// # Layout
/// That of [`mma_sparse`], in each block.
///
/// # PTX
/// `tcgen05.mma.sp.cta_group::2.kind::f16` and the like (PTX ISA, "tcgen05.mma.sp").
///
/// # Errors
/// Those of [`mma_sparse`], K0507 for a kernel whose clusters have no pairs, K0511 for one that also has products of single blocks.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// The rows of this block, of a product of 256 by 128 with 64 along `k`.
/// fn step(kept: Shared<f16>, described: Tile<u16>, x: Shared<f16>, acc: Tmem<f32>) {
///     let metadata = tmem::<u16>([128, 4]);
///     metadata.store(described);
///     cluster::sync(); // both blocks have written `kept` of [128, 32], `x` of [64, 64] and their metadata
///     tcgen05::mma_sparse_pair(kept, metadata, x, acc);
/// }
/// ```
pub fn mma_sparse_pair<T: Scalar, U: Scalar, A: Number>(
    a: impl Matrix<T>,
    metadata: Tmem<u16>,
    b: Shared<U>,
    acc: Tmem<A>,
) -> Multiplying {
    stub()
}

/// Starts a copy of a tile from shared to tensor memory, without changing bits, and goes on.
///
/// Copies and products run in the order in which a partition starts them. So without a wait, a product may read or add
/// to what a copy before it writes, and a copy may overwrite what a product before it reads (the manual does not state
/// the second; Gluon's tutorial of this copy relies on it, and the emulator does it). Threads may read the tile and
/// overwrite the source after waiting on the barrier of a commit.
///
/// In a kernel of [pairs](mma_pair()) the block of even rank starts the copies of both blocks: each block's tile from its own
/// shared memory, at the same places in both.
///
/// # Layout
/// To blocks ([`tmem_block`](super::tmem_block)) of 128 rows with 32-bit elements it copies from the swizzled layouts
/// of TMA and products, with contiguous columns; a layout that is not pinned is one of these.
///
/// A layout of tensor memory may be written out, for elements of any size: 128 rows; 64 rows, each for two warps, with
/// `R[2 : 64 @ TLane]` or `R[2 : 32 @ TLane]`; 32 rows for all four warps, with `R[4 : 32 @ TLane]`; 4 rows, one for
/// each warp, in the first of its 32: `S[(4, N) : (32 @ TLane, 1 @ TCol)]`. The source is then swizzled, or has 16
/// bytes of one row directly after 16 bytes of the row before.
///
/// # PTX
/// `tcgen05.cp.cta_group::1.128x256b` or, with one row for each warp, `4x256b` for each 8 columns; `128x128b`,
/// `64x128b.warpx2::02_13`, `64x128b.warpx2::01_23` and `32x128b.warpx4` for each 4 columns, as the layouts say (PTX
/// ISA, "tcgen05.cp").
///
/// # Errors
/// K0502 on other targets, K0206 for an operand in other memory, K0202 and K0203 if the two differ, K0301 for a pinned
/// layout that does not fit, K0307 for layouts between which no instruction copies, K0410 if the kernel can end before
/// it is done, K0402 for a whole ring or a window of another block, K0414 for several tiles at once.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// `a · b + c`, with `c` from shared memory.
/// fn product(a: Shared<f16>, b: Shared<f16>, c: Shared<f32>, acc: Tmem<f32>, done: Barrier) {
///     tcgen05::copy(c, acc);
///     tcgen05::mma(a, b, acc);
///     tcgen05::commit(done);
/// }
/// ```
pub fn copy<T: Scalar>(from: Shared<T>, to: Tmem<T>) -> Copying {
    stub()
}

/// Arrives once at a barrier when every product and copy that the partition has started so far is done; with
/// [`multicast`](Committing::multicast) once in each of several blocks. In a kernel of [pairs](mma_pair()), the block
/// of even rank commits.
///
/// # PTX
/// `tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64` (PTX ISA, "tcgen05.commit").
///
/// # Errors
/// K0502 on other targets, K0206 if `bar` is not a barrier, K0402 for a barrier of another block and for a whole ring.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn finish(done: Barrier) {
///     tcgen05::commit(done);
///     done.wait(0);
/// }
/// ```
pub fn commit(bar: Barrier) -> Committing {
    stub()
}

/// A commit that was just made. Its methods are options of the commit, given in the same statement.
#[derive(Clone, Copy, Debug)]
pub struct Committing(());

#[expect(clippy::return_self_not_must_use, reason = "what is said last of a commit is not used")]
impl Committing {
    /// The commit arrives in every block of the cluster whose bit is set in `mask`, at the barrier at the same place.
    ///
    /// If blocks fill buffers of other blocks, this tells them that the buffers are free. A block must not end before
    /// another block has signalled it: if a kernel does not end with [`cluster::sync`](super::cluster::sync()), the
    /// compiler inserts it there.
    ///
    /// # PTX
    /// `.multicast::cluster` (PTX ISA, "tcgen05.commit").
    ///
    /// # Errors
    /// K0507 for a kernel without clusters and for a constant mask that does not fit, K0206 for a mask that is not an `i32`, K0404 if it is given twice.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// /// Both blocks of a cluster may fill the buffer again.
    /// fn release(empty: Barriers, slot: i32) {
    ///     tcgen05::commit(empty[slot]).multicast(0b11);
    /// }
    /// ```
    pub fn multicast(self, mask: i32) -> Committing {
        stub()
    }

    /// The commit takes place only if `condition` holds.
    ///
    /// # PTX
    /// A predicate of the thread that commits.
    ///
    /// # Errors
    /// K0206 for a condition that is not a scalar `bool`, K0404 if it is given twice.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn finish(done: Barrier, last: bool) {
    ///     tcgen05::commit(done).when(last);
    /// }
    /// ```
    pub fn when(self, condition: bool) -> Committing {
        stub()
    }
}

/// A product that was just started. Its methods are options of the product, given in the same statement.
#[derive(Clone, Copy, Debug)]
pub struct Multiplying(());

#[expect(clippy::return_self_not_must_use, reason = "what is said last of a product is not used")]
impl Multiplying {
    /// Whether the product adds to the accumulator; if not, it overwrites it. Without this it adds.
    ///
    /// # PTX
    /// The operand `enable-input-d` (PTX ISA, "tcgen05.mma").
    ///
    /// # Errors
    /// K0206 for a condition that is not a `bool` of the whole block.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn step(a: Shared<f16>, b: Shared<f16>, acc: Tmem<f32>, k: i32) {
    ///     tcgen05::mma(a, b, acc).accumulate(k > 0);
    /// }
    /// ```
    pub fn accumulate(self, adds: bool) -> Multiplying {
        stub()
    }

    /// The product is started only if `condition` holds.
    ///
    /// # PTX
    /// A predicate of the thread that starts it.
    ///
    /// # Errors
    /// K0206 for a condition that is not a scalar `bool`, K0404 if it is given twice.
    ///
    /// ```no_run
    /// use kiln::prelude::*;
    ///
    /// fn step(a: Shared<f16>, b: Shared<f16>, acc: Tmem<f32>, more: bool) {
    ///     tcgen05::mma(a, b, acc).when(more);
    /// }
    /// ```
    pub fn when(self, condition: bool) -> Multiplying {
        stub()
    }
}
