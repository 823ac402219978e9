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
/// | `e4m3`, `e5m2` | `f32`, `f16` | tensor cores, from `sm_90a` on |
/// | `f32` | `f32` | fused multiply-add; for tensor cores see [`dot_tf32`] |
/// | `f64` | `f64` | fused multiply-add |
///
/// Sums are kept in the accumulator's type. On tensor cores products are exact and the order of the
/// additions is the hardware's. The block's warps share the product's rows and columns, in pieces
/// of at least 16 by 8. A product shallower than the smallest instruction is computed by multiply-add:
/// that of 8 for `f16` and `bf16`, 16 for types of one byte, 4 for `tf32`. Both factors have one type; [`wgmma::mma`](super::wgmma::mma)
/// multiplies `e4m3` with `e5m2`.
///
/// A factor in shared memory is read as if by `load()`; the block has to see it, see [`Shared`]. A
/// factor may be transposed with `.t()`.
///
/// On `sm_90a`, warpgroups multiply what lies in shared memory, as with [`wgmma::mma`](super::wgmma::mma) and a wait for the
/// sums: where the right factor does, the left one does or is a tile, the warps are a multiple of 4, the rows one of 64, the depth one
/// of 32 bytes, the columns at least 8 for each warpgroup among the columns, and a descriptor describes what is read (of other
/// sizes than 16 bits the depth has to lie side by side). Factors of `f32` are those of [`dot_tf32`].
///
/// # Layout
/// By warpgroups: that of [`wgmma::mma`](super::wgmma::mma). Otherwise:
///
/// The result of a product on tensor cores has the layout [`mma`](super::mma), with as many warps along rows and
/// columns as inference finds best for the shape; of two products that follow one another, all warps lie along the rows
/// (or columns) that they share. The factors have [`dot_operand`](super::dot_operand) of that. Without tensor cores it
/// is [`blocked`](super::blocked), squares of elements in each thread, or as the accumulator is blocked. The accumulator
/// in a loop keeps its layout; one that is pinned to another than `mma` is converted in front of a product on tensor
/// cores, in a loop before the first iteration. A factor in registers is [converted](super#conversions), mostly through
/// shared memory; one in shared memory is read in its layout right away, without that.
///
/// # PTX
/// | `a`, `b` | depth of a step | instruction |
/// |---|---|---|
/// | `f16` | 16, 8 | `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`, `m16n8k8`; with sums in `f16` `.f16.f16.f16.f16` |
/// | `bf16` | 16, 8 | `mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32`, `m16n8k8` |
/// | `i8`, `u8` | 32, 16 | `mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32`, `m16n8k16`; `.u8.u8` |
/// | `e4m3`, `e5m2` | 32, 16 | `mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32`, `m16n8k16`; `.e5m2.e5m2`, sums in `.f16` |
/// | `f32`, `f64` | 1 | `fma.rn.f32`, `fma.rn.f64` |
///
/// A factor in shared memory is read by `ldmatrix.sync.aligned.m8n8.x4.shared.b16`, transposed `.x4.trans` (16 bits
/// only; of other sizes the depth has to lie side by side), one step ahead of the products; where its layout does not
/// keep rows of 16 bytes together, by `ld.shared`. (PTX ISA, "Matrix multiply-accumulate operation using mma
/// instruction", "ldmatrix".)
///
/// By warpgroups: `wgmma.fence`, `wgmma.mma_async` for each 64 rows and 32 bytes of the depth, `wgmma.commit_group`,
/// `wgmma.wait_group 0` (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").
///
/// # Errors
/// K0210 for shapes that do not fit together, K0203 for factors of different types, K0204 for types that the table
/// lacks, K0206 for a factor that is no tile and no shared memory, or an accumulator that is no tile; K0302 for a
/// factor or an accumulator pinned to a layout that the product cannot use; K0402 for a whole ring as a factor; K0502 for floats of
/// one byte on `sm_80`.
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

/// The matrix product `a · b + acc` of `f32` matrices on tensor cores, whose factors are rounded to
/// `tf32` first.
///
/// `tf32` has the exponent of `f32` and 10 bits of fraction, so a product is good to about three
/// decimal digits; sums are kept in `f32`. Rounding is to nearest, ties away from zero; of what warpgroups read in shared memory, the
/// low 13 bits are left out instead. [`dot`]
/// never does this by itself. Shapes are as there.
///
/// # Layout
/// That of [`dot`](dot).
///
/// # PTX
/// `cvt.rna.tf32.f32` of each element of the factors, then `mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32`,
/// `m16n8k4` for a depth of 4. A factor in shared memory is read by `ldmatrix` where rows of it are the depth. (PTX
/// ISA, "cvt", "Matrix multiply-accumulate operation using mma instruction".)
///
/// # Errors
/// Those of [`dot`](dot); K0204 for factors that are not `f32`.
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
