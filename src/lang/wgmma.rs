//! Products by warpgroups: the tensor cores of Hopper (`sm_90a`), which read shared memory themselves.

use super::product::Matrix;
use super::scalar::{Number, Scalar};
use super::shared::Shared;
use super::stub;
use super::tile::Tile;

/// Starts the product `a · b + acc`, of shapes `(M, K) · (K, N) + (M, N)`, and goes on; [`wait`] gives the sums.
///
/// | `a`, `b` | `acc` and result |
/// |---|---|
/// | `f16` | `f32`, `f16` |
/// | `bf16` | `f32` |
/// | `f32`, of which 19 bits count (tf32) | `f32` |
/// | `i8`, `u8`, either with either | `i32` |
/// | `e4m3`, `e5m2`, either with either | `f32`, `f16` |
///
/// M is a multiple of 64, K of 32 bytes, and N, as every extent of a tile, a power of two: one instruction has 8, 16, 32, 64, 128 or 256
/// columns for each group of four warps that has columns of its own, and more are several instructions. The other widths of the
/// hardware, which go in steps of 8, are reached by two products side by side, each with a right operand and sums of its own: 192
/// columns by products of 128 and of 64, 24 by 16 and 8. The kernel, or the partition, has 4, 8 or 16 warps. `b` lies in shared memory, `a` there or in
/// registers. Either may be transposed with `.t()`, of 16 bits each: of other types the depth is what lies side by side, `a` of `[m, k]` and
/// `b.t()` of `[n, k]`. Of an `f32` in shared memory the hardware does not read the low 13 bits; in registers, `a` is rounded to tf32 as
/// by [`dot_tf32`](super::dot_tf32).
///
/// Until the wait, the accumulator is not used other than by further products, and neither `a` nor `b` is overwritten. Products are exact; sums are
/// kept in the accumulator's type, in the hardware's order; of FP8 numbers an H200 keeps 14 bits of a sum
/// inside an instruction.
///
/// # Layout
/// The result has the layout of the instruction: all groups of four warps along the rows as long as there are 64 for each, then along
/// the columns. In shared memory, operands lie as [`tma::load`](super::tma::load) leaves them.
///
/// # PTX
/// `wgmma.fence`, a `wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16` and the like for every 64 rows, up to 256 columns and 32 bytes
/// of depth, `wgmma.commit_group` (PTX ISA, `wgmma.mma_async`).
///
/// # Errors
/// K0502 on other targets, K0206 for a right factor in registers, K0402 for a window of another block, K0210 for extents, K0204 for element types, K0302 for an operand that no descriptor describes, K0503 for a
/// number of warps that is no multiple of 4, K0203 for factors of types that do not go together, K0410 where the accumulator is used too early.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn product(a: Shared<bf16>, b: Shared<bf16>) -> Tile<f32> {
///     let acc = wgmma::mma(a, b.t(), zeros([64, 128]));
///     wgmma::wait(0, acc)
/// }
/// ```
#[must_use]
pub fn mma<T: Scalar, U: Scalar, A: Number>(
    a: impl Matrix<T>,
    b: Shared<U>,
    acc: Tile<A>,
) -> Tile<A> {
    stub()
}

/// The accumulator, once at most `pending` of the products started last are under way.
///
/// `pending` is known when compiling, 0 to 7. With `wait(1, acc)` right after a product, the one before is done, so that what it read may
/// be overwritten; `acc` itself is not.
///
/// # PTX
/// `wgmma.wait_group.sync.aligned N` (PTX ISA, `wgmma.wait_group`).
///
/// # Errors
/// K0106 and K0207 for the number; K0410 where what it gives is used while its product may be under way.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn finish(acc: Tile<f32>) -> Tile<bf16> {
///     wgmma::wait(0, acc).cast()
/// }
/// ```
#[must_use]
pub fn wait<A: Number>(pending: i32, acc: Tile<A>) -> Tile<A> {
    stub()
}
