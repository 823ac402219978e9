//! `wgmma`: products of warpgroups on the tensor cores of Hopper (`sm_90a`), which read shared memory directly.

use super::product::Matrix;
use super::scalar::{Number, Scalar};
use super::shared::Shared;
use super::stub;
use super::tile::Tile;

/// Starts the product `a · b + acc`, of shapes `(M, K) · (K, N) + (M, N)`, and goes on; [`wait`] gives the result.
///
/// | `a`, `b` | `acc` and result |
/// |---|---|
/// | `f16` | `f32`, `f16` |
/// | `bf16` | `f32` |
/// | `f32`, of which 19 bits count (tf32) | `f32` |
/// | `i8`, `u8`, either with either | `i32` |
/// | `e4m3`, `e5m2`, either with either | `f32`, `f16` |
///
/// M is a multiple of 64, K a multiple of 32 bytes, and N a power of two, like every extent of a tile. One instruction
/// has 8, 16, 32, 64, 128 or 256 columns for each warpgroup that has its own columns; more columns take several
/// instructions. For the other widths of the hardware, which are multiples of 8, use two products, each with its own
/// right operand and accumulator: 192 columns as 128 and 64, 24 columns as 16 and 8. The kernel or the partition has 4,
/// 8 or 16 warps. `b` is in shared memory, `a` in shared memory or in registers. Operands of 16 bits may be transposed
/// with `.t()`. With other types `k` is contiguous: `a` of `[m, k]`, and `b.t()` with `b` of `[n, k]`. The hardware
/// ignores the low 13 bits of an `f32` in shared memory; in registers, `a` is rounded to tf32 as by
/// [`dot_tf32`](super::dot_tf32).
///
/// Until the wait, only further products may use the accumulator, and neither `a` nor `b` may be overwritten. Products
/// are exact; sums are kept in the accumulator's type, in the hardware's order. With FP8 operands, an H200 keeps 14
/// bits of a sum inside an instruction.
///
/// # Layout
/// The result has the layout of the instruction: warpgroups are along the rows as long as there are 64 rows for each,
/// then along the columns. In shared memory, operands have the layout that [`tma::load`](super::tma::load) writes.
///
/// # PTX
/// `wgmma.fence`, a `wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16` and the like for every 64 rows, up to 256
/// columns and 32 bytes along `k`, `wgmma.commit_group` (PTX ISA, `wgmma.mma_async`).
///
/// # Errors
/// K0502 on other targets, K0206 for a right operand in registers, K0402 for a window of another block, K0210 for
/// extents, K0204 for element types, K0302 for an operand that no descriptor describes, K0503 for a number of warps
/// that is not a multiple of 4, K0506 for one that leaves a thread too few registers for an instruction, K0203 for operands
/// of types that do not fit together, K0410 if the accumulator is used
/// too early or an operand is overwritten too early, K0417 for an operand that a copy in flight may still write.
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

/// Starts the product `a · b + acc` of an `a` of which half is zeros, and goes on; [`wait`] gives the result. An instruction multiplies
/// twice the columns that one of [`mma`] does.
///
/// `a` has the kept half of each row, of shape `(M, K / 2)`; `b` is `(K, N)`, and `acc` and the result are `(M, N)`. `metadata`, of `u16`,
/// says where the kept elements were. It has the form that [`dot_sparse`](super::dot_sparse) describes, and that
/// [`sparse::compress`](crate::sparse::compress) makes on the host:
///
/// | `a`, `b` | kept | shape of `metadata` | K is a multiple of | `acc` and result |
/// |---|---|---|---|---|
/// | `f16` | two of four | `(M, K / 16)` | 32 | `f32`, `f16` |
/// | `bf16` | two of four | `(M, K / 16)` | 32 | `f32` |
/// | `f32`, of which 19 bits count (tf32) | one of two | `(M, K / 8)` | 16 | `f32` |
/// | `i8`, `u8`, either with either | two of four | `(M, K / 16)` | 64 | `i32` |
/// | `e4m3`, `e5m2`, either with either | two of four | `(M, K / 16)` | 64 | `f32`, `f16` |
///
/// For other metadata the result is undefined; the emulator stops where a group names no two elements. Elements of `b` at places that are not kept are not read: a NaN
/// there does not reach the result. M, N, the warps, where `a` and `b` are and which may be transposed are as for [`mma`]. `metadata` is a
/// tile or in shared memory; the product has a copy of it, so that it may be overwritten at once.
///
/// On other targets, for operands in registers and for the number of warps that a kernel has, there is
/// [`dot_sparse`](super::dot_sparse).
///
/// # Layout
/// That of [`mma`]. Metadata is [converted](super#conversions) to the layout in which the instruction reads it.
///
/// # PTX
/// Those of [`mma`], but `wgmma.mma_async.sp.sync.aligned.m64n256k32.f32.bf16.bf16` and the like, with 32 bytes of a row of `a` and
/// 64 of a column of `b` (PTX ISA, `wgmma.mma_async.sp`).
///
/// # Errors
/// Those of [`mma`]; K0210 also for metadata of another shape, and K0204 for metadata that is not `u16`.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// 64 columns of weights, of which 32 are kept.
/// fn product(kept: Shared<bf16>, metadata: Tile<u16>, x: Shared<bf16>) -> Tile<f32> {
///     let acc = wgmma::mma_sparse(kept, metadata, x, zeros([64, 128]));
///     wgmma::wait(0, acc)
/// }
/// ```
#[must_use]
pub fn mma_sparse<T: Scalar, U: Scalar, A: Number>(
    a: impl Matrix<T>,
    metadata: impl Matrix<u16>,
    b: Shared<U>,
    acc: Tile<A>,
) -> Tile<A> {
    stub()
}

/// Waits until at most `pending` of the newest products are in flight, and gives the accumulator.
///
/// `pending` is known at compile time, 0 to 7. After `wait(1, acc)` directly after a product, the product before it is
/// done, so its operands may be overwritten; `acc` itself is not done.
///
/// # PTX
/// `wgmma.wait_group.sync.aligned N` (PTX ISA, `wgmma.wait_group`).
///
/// # Errors
/// K0502 on a target without `wgmma`, K0106 and K0207 for the number; K0410 if the result is used while its product may be in flight, and
/// K0418 if that product's operands are overwritten then.
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
