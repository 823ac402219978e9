//! The tensor cores of Blackwell (`sm_100a`): products whose sums lie in tensor memory.
//!
//! One thread starts products and copies to tensor memory, and goes on. They run in the order in which they are started. Everything else waits for a barrier: [`commit`] lets
//! it end a phase when all that was started so far is done.

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
/// | `e4m3`, `e5m2`, either with either | `f32`, `f16` |
///
/// M is 64 or a multiple of 128, K a multiple of 32 bytes, N at least 8 (16 where M is 128 or more). `b` lies in shared memory, `a` there or in tensor memory.
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
/// that no descriptor describes, K0414 for several tiles at once.
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

/// Starts a copy of a tile from shared to tensor memory, bits as they are, and goes on.
///
/// Copies and products run in the order in which a partition starts them: a product may read or add to what a copy before it
/// writes, and a copy may overwrite what a product before it reads, without a wait. Threads read the tile, and write the
/// source again, behind a barrier that was committed to.
///
/// # Layout
/// To blocks ([`tmem_block`](super::tmem_block)) of 128 rows and elements of 32 bits it copies from the swizzled layouts that tensor maps and
/// products use, columns side by side; a layout that is not pinned is such a one.
///
/// A layout of tensor memory may be spelled out, for elements of any size: 128 rows; 64 rows, each for two warps, with
/// `R[2 : 64 @ TLane]` or `R[2 : 32 @ TLane]`; 32 rows for all four warps, with `R[4 : 32 @ TLane]`. The source is then 16 bytes of
/// each row one behind the other, or swizzled.
///
/// # PTX
/// `tcgen05.cp.cta_group::1.128x256b` for each 8 columns, or `128x128b`, `64x128b.warpx2::02_13`, `64x128b.warpx2::01_23` and `32x128b.warpx4` for each 4 columns, as
/// the layouts say (PTX ISA, "tcgen05.cp").
///
/// # Errors
/// K0502 on other targets, K0206 for an operand that lies elsewhere, K0202 and K0203 where the two differ, K0307 for layouts that no
/// instruction joins, K0414 for several tiles at once.
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

/// One arrival at a barrier, when every product and copy is done that the partition has started so far.
///
/// # PTX
/// `tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64` (PTX ISA, "tcgen05.commit").
///
/// # Errors
/// K0502 on other targets, K0402 for a barrier of another block.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn finish(done: Barrier) {
///     tcgen05::commit(done);
///     done.wait(0);
/// }
/// ```
pub fn commit(bar: Barrier) {
    stub()
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
}
