//! Matrix products.

use super::scalar::{Number, Scalar};
use super::sealed::Sealed;
use super::shared::Shared;
use super::stub;
use super::tensor_memory::Tmem;
use super::tile::Tile;

/// An operand of a matrix product: a tile in registers, or shared memory.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a matrix of `{T}`",
    label = "must be `Tile<{T}>` or `Shared<{T}>`",
    note = "an operand of a product is a tile or shared memory"
)]
pub trait Matrix<T>: Copy + Sealed {}

impl<T: Scalar> Matrix<T> for Tile<T> {}
impl<T: Scalar> Matrix<T> for Shared<T> {}
impl<T: Scalar> Matrix<T> for Tmem<T> {}

/// The matrix product `a · b + acc`, of shapes `(M, K) · (K, N) + (M, N)`.
///
/// | `a`, `b` | `acc` and result | computed by |
/// |---|---|---|
/// | `f16` | `f32`, `f16` | tensor cores |
/// | `bf16` | `f32` | tensor cores |
/// | `i8`, `u8` | `i32` | tensor cores; sums wrap |
/// | `e4m3`, `e5m2` | `f32`, `f16` | tensor cores, of every target with FP8 |
/// | two different ones of `e4m3`, `e5m2`, `e2m1x2`, `e2m3x16`, `e3m2x16`, or one of the last three with itself | `f32`, `f16` | tensor cores of `sm_120a` only |
/// | `f32` | `f32` | fused multiply-add; for tensor cores see [`dot_tf32`] |
/// | `f64` | `f64` | fused multiply-add |
///
/// Sums are kept in the accumulator's type. On tensor cores products are exact, and the hardware decides the order of
/// the additions. The block's warps share the rows and columns of the product, in pieces of at least 16 by 8. If `K` is
/// below that of the smallest instruction (8 for `f16` and `bf16`, 16 for types of one byte, 4 for `tf32`), the product
/// is computed by multiply-add. Both operands have one type. On `sm_120a`, any two of FP8, FP6 and FP4 can be multiplied
/// if `K` is at least 32. On `sm_90a`, [`wgmma::mma`](super::wgmma::mma) multiplies `e4m3` with `e5m2`.
///
/// An element of `e2m1x2` is two numbers of a row of `a`, or of a column of `b`: of such an operand the shape is
/// `(M, K / 2)`, or `(K / 2, N)`. Elements of `e2m3x16` and `e3m2x16` are sixteen, and such an operand is in shared memory,
/// which [`tma::load`](super::tma::load) fills.
///
/// An operand in shared memory is read as if by `load()`, so the block has to see its contents, see [`Shared`]. An
/// operand may be transposed with `.t()`.
///
/// On `sm_90a`, `dot` uses `wgmma` for operands in shared memory, like [`wgmma::mma`](super::wgmma::mma) and a wait,
/// if: the right operand is in shared memory, and the left one too or it is a tile; the number of warps is a multiple
/// of 4, `M` of 64 and `K` of 32 bytes; there are at least 8 columns for each warpgroup along the columns; and a
/// descriptor describes the operands (`K` has to be contiguous except for 16-bit elements). With `f32` this applies to
/// [`dot_tf32`].
///
/// # Layout
/// With `wgmma`: that of [`wgmma::mma`](super::wgmma::mma). Otherwise:
///
/// The result of a product on tensor cores has the layout [`mma`](super::mma). Inference chooses the number of warps
/// along rows and columns; if one product takes the result of another, all warps are along the rows (or columns) that
/// they share. The operands have [`dot_operand`](super::dot_operand) of that layout. Without tensor cores the result is
/// [`blocked`](super::blocked), squares of elements in each thread, or has the blocked layout of the accumulator. An
/// accumulator keeps its layout in a loop. One that is pinned to a layout other than `mma` is converted before a
/// product on tensor cores, in a loop before the first iteration. An operand in registers is
/// [converted](super#conversions), mostly through shared memory; an operand in shared memory is read directly in its
/// layout.
///
/// # PTX
/// | `a`, `b` | `K` of a step | instruction |
/// |---|---|---|
/// | `f16` | 16, 8 | `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`, `m16n8k8`; with an `f16` accumulator `.f16.f16.f16.f16` |
/// | `bf16` | 16, 8 | `mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32`, `m16n8k8` |
/// | `i8`, `u8` | 32, 16 | `mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32`, `m16n8k16`; `.u8.u8` |
/// | `e4m3`, `e5m2` | 32, 16 | `mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32`, `m16n8k16`; `.e5m2.e5m2`, accumulator `.f16` |
/// | two different ones of FP8, FP6 and FP4, or FP6 or FP4 with itself | 32 | `mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e4m3.f32`; threads spread FP4 numbers to bytes, and `ldmatrix.m8n16.b8x16.b6x16_p32` FP6 numbers |
/// | `f32`, `f64` | 1 | `fma.rn.f32`, `fma.rn.f64` |
///
/// An operand in shared memory is read by `ldmatrix.sync.aligned.m8n8.x4.shared.b16`, transposed `.x4.trans` (16 bits
/// only; with other sizes `K` has to be contiguous), one step ahead of the products; if its layout does not keep rows
/// of 16 bytes contiguous, by `ld.shared`. (PTX ISA, "Matrix multiply-accumulate operation using mma instruction",
/// "ldmatrix".)
///
/// With `wgmma`: `wgmma.fence`, `wgmma.mma_async` for each 64 rows and 32 bytes along `K`, `wgmma.commit_group`,
/// `wgmma.wait_group 0` (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").
///
/// # Errors
/// K0210 for shapes that do not fit together, K0203 for operands of different types, K0204 for types that are not in
/// the table, K0206 for an operand that is neither a tile nor shared memory, or an accumulator that is not a tile;
/// K0302 for an operand or an accumulator pinned to a layout that the product cannot use; K0402 for a whole ring as an
/// operand; K0502 for types that the target does not multiply: FP8 on `sm_80`, FP6 and FP4 elsewhere than on `sm_120a`.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn scores(q: Tile<f16>, k: Shared<f16>) -> Tile<f32> {
///     dot(q, k.t(), zeros::<f32>([64, 64])) * 0.125
/// }
/// ```
#[must_use]
pub fn dot<T: Scalar, U: Scalar, A: Number>(
    a: impl Matrix<T>,
    b: impl Matrix<U>,
    acc: Tile<A>,
) -> Tile<A> {
    stub()
}

/// The block-scaled matrix product `a · b + acc`, of shapes `(M, K) · (K, N) + (M, N)`, on the tensor cores of `sm_120a`. Each
/// block of adjacent numbers along `k` has one scale, by which the sum of their products is multiplied.
///
/// | `a`, `b` | `a_scales`, `b_scales` | numbers in a block | `K` of a step | |
/// |---|---|---|---|---|
/// | `e4m3`, `e5m2`, either with either | `ue8m0`: powers of two | 32 | 32 | MXFP8 |
/// | `e4m3` or `e5m2` with `e2m1x2`, on either side | `ue8m0` | 32 | 32 | MXFP8 by MXFP4 |
/// | `e2m3x16`, `e3m2x16`, with each other, `e4m3`, `e5m2` or `e2m1x2` | `ue8m0` | 32 | 32 | MXFP6 |
/// | `e2m1x2` | `ue8m0` | 32 | 64 | MXFP4 |
/// | `e2m1x2` | `e4m3`, whose sign is not read | 16 | 64 | NVFP4 |
///
/// `a_scales` of `(M, K / block)` and `b_scales` of `(N, K / block)` are tiles or shared memory, as the operands are. `K` is at
/// least that of a step. A `ue8m0` scale is 2 to the power of its bits minus 127. The accumulator is `f32`. Operands
/// of FP4 and FP6 have smaller extents along `k`, see [`dot`].
///
/// # Layout
/// That of [`dot`]. Scales are [converted](super#conversions) to the layout in which the instruction reads them: of each four
/// lanes, the first two hold the scales of two rows of `a`, and the first those of a column of `b`.
///
/// # PTX
/// `mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0`, for `e2m1x2` alone `m16n8k64` of
/// `kind::mxf4` with `scale_vec::2X` or of `kind::mxf4nvf4` with `scale_vec::4X` and `.ue4m3` (PTX ISA, "Block Scaling for mma.sync").
/// [`tcgen05::mma_scaled`](super::tcgen05::mma_scaled) is the product of data-centre Blackwell.
///
/// # Errors
/// K0502 on targets without it, K0210 for shapes that do not fit together and for a `K` below that of a step, K0204 for
/// element types and blocks that are not in the table; otherwise those of [`dot`].
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// 64 along `k`: two scales for each row of `a` and `b`.
/// fn step(a: Shared<e4m3>, b: Shared<e4m3>, of_a: Tile<ue8m0>, of_b: Tile<ue8m0>, acc: Tile<f32>) -> Tile<f32> {
///     dot_scaled(a, b.t(), acc, of_a, of_b)
/// }
/// ```
#[must_use]
pub fn dot_scaled<T: Scalar, U: Scalar, S: Scalar>(
    a: impl Matrix<T>,
    b: impl Matrix<U>,
    acc: Tile<f32>,
    a_scales: impl Matrix<S>,
    b_scales: impl Matrix<S>,
) -> Tile<f32> {
    stub()
}

/// The matrix product `a · b + acc` of an `a` of which half is zeros, on tensor cores: twice the products of [`dot`] in an instruction.
///
/// In each row of `a`, two elements of each group of four adjacent ones are kept. `a` has the kept ones, of shape `(M, K / 2)`, and
/// `metadata`, `u16` of shape `(M, K / 16)`, says where they were. The others count as zeros, and the elements of `b` at their places
/// are not read: a NaN there does not reach the result. `b` is `(K, N)`, and `acc` and the result are `(M, N)`.
///
/// Element `(m, j)` of `metadata` has four bits for each of the groups `4 j` to `4 j + 3` of row `m`, the first group in the lowest
/// bits. Of these four bits the lower two are the place of the first kept element in its group, 0 to 3, and the upper two that of the
/// second, which is larger. `0b0100` keeps the first two elements of a group, `0b1110` the last two. For other metadata the result is
/// undefined; the emulator stops there. On the host, [`sparse::compress`](crate::sparse::compress) makes both matrices. Windows past the
/// end of a tensor load zeros, which name no elements: `select(metadata.eq(0), 0x4444, metadata)` makes them whole.
///
/// | `a`, `b` | `acc` and result | least `K` |
/// |---|---|---|
/// | `f16` | `f32`, `f16` | 16 |
/// | `bf16` | `f32` | 16 |
/// | `i8`, `u8` | `i32`; sums wrap | 32 |
/// | `e4m3`, `e5m2`, of targets with FP8 | `f32` | 64 |
///
/// For `f32`, see [`dot_sparse_tf32`]. Operands and metadata are tiles or shared memory, as those of [`dot`] are. On Hopper,
/// [`wgmma::mma_sparse`](super::wgmma::mma_sparse) multiplies operands in shared memory by whole warpgroups, and on data-centre Blackwell
/// [`tcgen05::mma_sparse`](super::tcgen05::mma_sparse) in tensor memory, which is faster.
///
/// # Layout
/// That of [`dot`](dot), by `mma.sync`. Metadata is [converted](super#conversions) to the layout in which the instruction reads it.
///
/// # PTX
/// | `a`, `b` | `K` of a step | instruction |
/// |---|---|---|
/// | `f16`, `bf16` | 32, 16 | `mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32`, `m16n8k16`; `.bf16.bf16`, accumulator `.f16` |
/// | `i8`, `u8` | 64, 32 | `mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32`, `m16n8k32`; `.u8.u8` |
/// | `e4m3`, `e5m2` | 64 | `mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32`; `.e5m2.e5m2` |
///
/// (PTX ISA, "Matrix multiply-accumulate operation using `mma.sp` instruction with sparse matrix A".)
///
/// # Errors
/// K0210 for shapes that do not fit together, metadata of another shape, and a `K` below the least; K0203 for operands of different
/// types; K0204 for types that are not in the table, and metadata that is not `u16`; K0502 for FP8 on `sm_80`; otherwise those of
/// [`dot`](dot).
///
/// ```no_run
/// use kiln::prelude::*;
///
/// /// 64 columns of weights, of which 32 are kept.
/// fn step(kept: Tile<f16>, metadata: Tile<u16>, x: Shared<f16>, acc: Tile<f32>) -> Tile<f32> {
///     dot_sparse(kept, x, acc, metadata)
/// }
/// ```
#[must_use]
pub fn dot_sparse<T: Scalar, A: Number>(
    a: impl Matrix<T>,
    b: impl Matrix<T>,
    acc: Tile<A>,
    metadata: impl Matrix<u16>,
) -> Tile<A> {
    stub()
}

/// The product of [`dot_sparse`] for `f32`, of which one of each two adjacent elements is kept. Both operands are rounded to `tf32`
/// first, as [`dot_tf32`] rounds them.
///
/// `a` is `(M, K / 2)`, and `metadata` is `u16` of shape `(M, K / 8)`: element `(m, j)` has four bits for each of the groups `4 j` to
/// `4 j + 3` of row `m`, the first group in the lowest bits. `0b0100` keeps the first element of a group, `0b1110` the second, and
/// there are no other bits. `K` is at least 8.
///
/// # Layout
/// That of [`dot_sparse`](dot_sparse).
///
/// # PTX
/// `cvt.rna.tf32.f32` of each element of the operands, then
/// `mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32`, `m16n8k8` for a `K` of 8. (PTX ISA, "Matrix
/// multiply-accumulate operation using `mma.sp` instruction with sparse matrix A".)
///
/// # Errors
/// Those of [`dot_sparse`](dot_sparse); K0204 for operands that are not `f32`.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn step(kept: Tile<f32>, metadata: Tile<u16>, x: Tile<f32>, acc: Tile<f32>) -> Tile<f32> {
///     dot_sparse_tf32(kept, x, acc, metadata)
/// }
/// ```
#[must_use]
pub fn dot_sparse_tf32(
    a: impl Matrix<f32>,
    b: impl Matrix<f32>,
    acc: Tile<f32>,
    metadata: impl Matrix<u16>,
) -> Tile<f32> {
    stub()
}

/// The matrix product `a · b + acc` of `f32` matrices on tensor cores; the operands are rounded to `tf32` first.
///
/// `tf32` has the exponent of `f32` and 10 bits of fraction, so a product is good to about three decimal digits; sums
/// are kept in `f32`. Rounding is to nearest, ties away from zero; `wgmma` instead ignores the low 13 bits of operands
/// in shared memory. [`dot`] never does this by itself. Shapes are as there.
///
/// # Layout
/// That of [`dot`](dot).
///
/// # PTX
/// `cvt.rna.tf32.f32` of each element of the operands, then `mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32`,
/// `m16n8k4` for a `K` of 4. An operand in shared memory is read by `ldmatrix` if its rows are along `K`. (PTX ISA,
/// "cvt", "Matrix multiply-accumulate operation using mma instruction".)
///
/// # Errors
/// Those of [`dot`](dot); K0204 for operands that are not `f32`.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn fast(a: Tile<f32>, b: Tile<f32>, acc: Tile<f32>) -> Tile<f32> {
///     dot_tf32(a, b, acc)
/// }
/// ```
#[must_use]
pub fn dot_tf32(a: impl Matrix<f32>, b: impl Matrix<f32>, acc: Tile<f32>) -> Tile<f32> {
    stub()
}
