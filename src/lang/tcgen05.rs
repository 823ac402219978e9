//! The tensor cores of Blackwell (`sm_100a`): products whose sums lie in tensor memory.
//!
//! One thread starts products and copies to tensor memory, and goes on. Copies and products run in the order in which they are started, and so do products of one
//! kind and shape that add to the same sums. A product that reads what another one under way writes, that writes what it reads, or that adds to its sums
//! with another shape or kind begins behind a commit and a wait (PTX ISA, "tcgen05 Memory Consistency Model"), and so does what threads read and write: K0410
//! where that is certainly missing. Whether a wait on a condition, for a phase, or for one of several tiles was the one that is needed, is known when the kernel
//! runs: the emulator looks at that. The tensor cores of two blocks multiply together in [`mma_pair`]. A barrier says what is done: [`commit`] lets it end a phase when
//! all that was started so far is.

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
/// | `e4m3`, `e5m2`, `e2m1x2`, each with each | `f32`, `f16` |
///
/// FP4 factors, `e2m1x2`, have two numbers of the depth to an element: where the other factor has K elements, they have K / 2. They lie
/// [padded](super::Layout::fp4_padded) in shared memory, without being asked for, with the depth side by side, which is a multiple of 128
/// numbers. Numbers of six bits, e2m3 and e3m2, are no elements: sixteen of them are twelve bytes.
///
/// These are the kinds f16 (of `f16` and `bf16`), tf32, i8 and f8f6f4 of the hardware.
///
/// M is 64 or a multiple of 128, K a multiple of 32 bytes, N at least 8 (16 where M is 128 or more), and all are powers of two, as extents of tiles are; an
/// instruction has up to 128 rows and 256 columns, and more are several of them. Other widths are products side by side. `b` lies in shared memory, `a` there or in tensor memory.
/// Of 8 and 16 bits, either may be transposed with `.t()`; of 32 bits the depth is what lies side by side, `a` of `[m, k]` and
/// `b.t()` of `[n, k]`.
///
/// With [`accumulate(false)`](Multiplying::accumulate) the sums are overwritten. Until a barrier says that the product is done, `a` and `b` are not
/// overwritten and the sums not read.
///
/// # Layout
/// That of the sums says which instruction multiplies: [`tmem`](super::tmem).
///
/// # PTX
/// `tcgen05.mma.cta_group::1.kind::f16` and the like, for each block of the sums and each 32 bytes of the depth (PTX ISA, "tcgen05.mma").
///
/// # Errors
/// K0502 on other targets, K0206 for an operand that lies elsewhere, K0210 for extents, K0203 and K0204 for element types, K0302 for a factor
/// that no descriptor describes and for sums over the columns of a left factor, K0410 where the kernel can end before it is done, K0405 where an iteration of a
/// pipelined loop can, K0402 for a whole ring or a window of another block, K0414 for several tiles at once, K0511 in a kernel
/// of pairs.
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
/// The blocks of a cluster whose ranks differ in the last bit are a pair. Each holds half of what multiplies and half of the result: of the product
/// (M, K) · (K, N) + (M, N) its M / 2 rows of the left factor, `a` of `[M / 2, K]`, and of the sums, `acc` of `[M / 2, N]`; and its N / 2 columns of
/// the right factor, `b` of `[K, N / 2]`. The block of even rank has the first half of each. So each half of the right factor is loaded by one block,
/// and read by two.
///
/// In a kernel that has such products, it is the block of even rank that starts them, for both, and that [commits](commit): there these statements take
/// place, and in the block of odd rank they do nothing. So it is enough that the even block waits for the factors, whichever block has loaded
/// them: a [`tma::load`](super::tma::load) of the odd block completes on a barrier of the even one,
/// `full.of_block(cluster::rank() & !1)`. Factors and sums lie at the same places in both blocks: the even block's say where. A commit tells
/// both blocks with [`multicast`](Committing::multicast). What threads have written to shared memory or sums, or read of the sums, is in order for the
/// tensor cores when the blocks have met ([`cluster::sync`](super::cluster::sync())), or when one has arrived at a barrier that the even one
/// waits for.
///
/// M / 2 is 64 or 128, N 32 to 256. Element types, transposed factors and what else is said of [`mma`] hold here. `b` lies in shared memory,
/// `a` there or, of 128 rows in each block, in tensor memory.
///
/// # Layout
/// Of 128 rows in each block, that of a product of one block. Of 64, the right half of the columns lies in rows 64 to 127 of tensor memory.
///
/// # PTX
/// `tcgen05.mma.cta_group::2.kind::f16` and the like, for each 32 bytes of the depth; and all other `tcgen05` instructions of the kernel are
/// `.cta_group::2` too (PTX ISA, "tcgen05.mma"). The blocks meet before they give tensor memory back, and so before they end.
///
/// # Errors
/// Those of [`mma`], K0204 for FP4 factors, K0507 for a kernel whose clusters have no pairs, K0511 for one that has products of single blocks as well.
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

/// Starts the block-scaled product `a · b + acc`, of shapes `(M, K) · (K, N) + (M, N)`, and goes on: blocks of neighbours along the depth
/// have one scale, by which the sum of their products is multiplied.
///
/// | `a`, `b` | elements | `a_scales`, `b_scales` | of so many | |
/// |---|---|---|---|---|
/// | `e4m3`, `e5m2`, either with either | as they are | `ue8m0`: powers of two | 32 | MXFP8 |
/// | `e4m3` or `e5m2` with `e2m1x2`, on either side | two FP4 numbers, [padded](super::Layout::fp4_padded) | `ue8m0` | 32 | MXFP8 by MXFP4 |
/// | `e2m1x2` | two FP4 numbers, the first in the lower half | `ue8m0` | 32 | MXFP4 |
/// | `e2m1x2` | the same | `e4m3` without a sign, or `ue8m0` | 16 | NVFP4 |
///
/// `b` lies in shared memory, `a` there or, but for padded FP4, in tensor memory; two FP4 numbers are an element, of which extents along the depth count half as many. Of FP4 the depth is what
/// lies side by side: `a` of `[m, k / 2]`, and `b.t()` of `[n, k / 2]`. A scale of `ue8m0` is 2 to the power of its bits less 127. Sums are `f32`.
///
/// `a_scales` of `(M, K / block)` and `b_scales` of `(N, K / block)` lie in tensor memory, where [`copy`] or [`Tmem::store`] brought them. M is a
/// multiple of 128, N at least 16 (32 where blocks of it are narrower than the sums), K at least four blocks.
///
/// # Layout
/// What holds scales has their layout, without being asked: four along the depth in a column, 32 rows of the factor in 32 rows,
/// and a copy for each warp. Of fewer than 128 rows, scales of four blocks are too short for a copy and are stored. A block of 128 rows by four scales is 512 bytes in the shared memory from which it is copied, byte `(m % 32) · 16 + (m / 32) · 4 + j`.
/// Scales that lie so in a tensor come by tensor map as 32 rows of 16 bytes: copied to `tmem::<ue8m0>([32, 16])` with the layout
/// `layout!(S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane])`, they are the scales that `.view::<ue8m0>([128, 4])` of it names.
///
/// # PTX
/// `tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X`, `kind::mxf4` with `scale_vec::2X`, `kind::mxf4nvf4` with `scale_vec::4X` (PTX
/// ISA, "tcgen05.mma": `.block_scale`).
///
/// # Errors
/// K0502 on other targets, K0206 for an operand that lies elsewhere, K0204 for element types, K0210 for extents, K0302 for layouts that
/// no instruction reads, K0410 where the kernel can end before it is done, K0405 where an iteration of a pipelined loop can, K0402 for a whole ring or a window of
/// another block, K0414 for several tiles at once, K0511 in a kernel of pairs, which have no scales.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// 128 of the depth: four scales for each row and column.
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

/// Starts a copy of a tile from shared to tensor memory, bits as they are, and goes on.
///
/// Copies and products run in the order in which a partition starts them: a product may read or add to what a copy before it
/// writes, and a copy may overwrite what a product before it reads, without a wait (of the second the manual does not speak; Gluon's tutorial of this
/// copy relies on it, and the emulator keeps it). Threads read the tile, and write the
/// source again, behind a barrier that was committed to.
///
/// # Layout
/// To blocks ([`tmem_block`](super::tmem_block)) of 128 rows and elements of 32 bits it copies from the swizzled layouts that tensor maps and
/// products use, columns side by side; a layout that is not pinned is such a one.
///
/// A layout of tensor memory may be spelled out, for elements of any size: 128 rows; 64 rows, each for two warps, with
/// `R[2 : 64 @ TLane]` or `R[2 : 32 @ TLane]`; 32 rows for all four warps, with `R[4 : 32 @ TLane]`; 4 rows, one
/// for each warp, in the first of its 32: `S[(4, N) : (32 @ TLane, 1 @ TCol)]`. The source is then 16 bytes of each row one behind the other, or swizzled.
///
/// # PTX
/// `tcgen05.cp.cta_group::1.128x256b` or, for a row to each warp, `4x256b` for each 8 columns; `128x128b`, `64x128b.warpx2::02_13`, `64x128b.warpx2::01_23` and `32x128b.warpx4` for each 4 columns, as
/// the layouts say (PTX ISA, "tcgen05.cp").
///
/// # Errors
/// K0502 on other targets, K0206 for an operand that lies elsewhere, K0202 and K0203 where the two differ, K0301 for a pinned layout that does not fit, K0307
/// for layouts that no instruction joins, K0410 where the kernel can end before it is done, K0402 for a whole ring or a window of another block, K0414 for several tiles at once.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// `a · b + c`, of which `c` comes from shared memory.
/// fn product(a: Shared<f16>, b: Shared<f16>, c: Shared<f32>, acc: Tmem<f32>, done: Barrier) {
///     tcgen05::copy(c, acc);
///     tcgen05::mma(a, b, acc);
///     tcgen05::commit(done);
/// }
/// ```
pub fn copy<T: Scalar>(from: Shared<T>, to: Tmem<T>) -> Copying {
    stub()
}

/// One arrival at a barrier, when every product and copy is done that the partition has started so far; with [`multicast`](Committing::multicast) one
/// in each of several blocks. In a kernel of [pairs](mma_pair()), the block of even rank commits.
///
/// # PTX
/// `tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64` (PTX ISA, "tcgen05.commit").
///
/// # Errors
/// K0502 on other targets, K0206 for what is no barrier, K0402 for a barrier of another block and for a whole ring.
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

/// A commit that was just made, for what else is to be said of it: in the same statement.
#[derive(Clone, Copy, Debug)]
pub struct Committing(());

#[expect(clippy::return_self_not_must_use, reason = "what is said last of a commit is not used")]
impl Committing {
    /// It arrives in every block of the cluster whose bit is set in `mask`: at the barrier that each of them has at the same place.
    ///
    /// Where a block fills buffers of others, this gives them back to those who fill them. A block that is told does not end before the one that tells it: where a kernel does
    /// not end with [`cluster::sync`](super::cluster::sync()), the compiler puts it there.
    ///
    /// # PTX
    /// `.multicast::cluster` (PTX ISA, "tcgen05.commit").
    ///
    /// # Errors
    /// K0507 for a kernel without clusters and for a constant mask that does not fit, K0404 where it is said twice.
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

    /// There is a commit only if `condition` holds.
    ///
    /// # PTX
    /// A predicate of the thread that commits.
    ///
    /// # Errors
    /// K0206 for what is no scalar `bool`, K0404 where it is said twice.
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

/// A product that was just started, for what else is to be said of it: in the same statement.
#[derive(Clone, Copy, Debug)]
pub struct Multiplying(());

#[expect(clippy::return_self_not_must_use, reason = "what is said last of a product is not used")]
impl Multiplying {
    /// Whether it adds to the sums; where not, it overwrites them. Without this it adds.
    ///
    /// # PTX
    /// The operand `enable-input-d` (PTX ISA, "tcgen05.mma").
    ///
    /// # Errors
    /// K0206 for what is no `bool` of the whole block.
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
    /// K0206 for what is no scalar `bool`, K0404 where it is said twice.
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
