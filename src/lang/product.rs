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
    note = "both factors of a product have the same element type"
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
/// | `e4m3`, `e5m2` | `f32`, `f16` | tensor cores, from `sm_89` on |
/// | `f32` | `f32` | fused multiply-add; for tensor cores see [`dot_tf32`] |
/// | `f64` | `f64` | fused multiply-add |
///
/// Sums are kept in the accumulator's type. On tensor cores products are exact, and the hardware decides the order of
/// the additions. The block's warps share the rows and columns of the product, in pieces of at least 16 by 8. If `K` is
/// below that of the smallest instruction (8 for `f16` and `bf16`, 16 for types of one byte, 4 for `tf32`), the product
/// is computed by multiply-add. Both operands have one type; [`wgmma::mma`](super::wgmma::mma) multiplies `e4m3` with
/// `e5m2`.
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
/// operand; K0502 for FP8 on `sm_80`.
///
/// ```no_run
/// use kiln::prelude::*;
///
/// fn scores(q: Tile<f16>, k: Shared<f16>) -> Tile<f32> {
///     dot(q, k.t(), zeros::<f32>([64, 64])) * 0.125
/// }
/// ```
#[must_use]
pub fn dot<T: Scalar, A: Number>(a: impl Matrix<T>, b: impl Matrix<T>, acc: Tile<A>) -> Tile<A> {
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
