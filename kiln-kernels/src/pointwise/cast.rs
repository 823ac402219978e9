//! Conversions between floating-point types.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use super::{corner, tile_of};
use crate::{Real, shape::require};

/// Each element in another type: the nearest number, of two the even one; beyond the range an infinity. NaN stays NaN.
///
/// # Errors
/// [`Error::Shape`] for different extents, those of launches.
pub fn cast<T: Real, U: Real>(
    stream: &Stream,
    x: &impl TensorArgument<T, 2>,
    out: &mut impl TensorArgumentMut<U, 2>,
) -> Result<()> {
    let shape = out.tensor_mut()?.shape();
    require("a conversion, of x", shape, x.tensor()?.shape())?;
    let [rows, columns] = tile_of(shape);
    convert::Values { T: Dtype::of::<T>(), U: Dtype::of::<U>(), R: rows, C: columns }
        .find()?
        .with(convert::Args { x, out })
        .launch(stream)
}

/// Four neighbours in each thread, so that lanes write 16 bytes of f32 one after the other.
const FOUR_OF_A_ROW: Layout = blocked([1, 4], [1, 32], [1, 4], [1, 0]);
const FOUR_OF_ROWS: Layout = blocked([1, 4], [1, 32], [4, 1], [1, 0]);

/// The layout follows the reads, unless elements become wider.
#[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), R) * cdiv(out.dim(1), C),
         instances(T = [bf16, f16, f32], U = [bf16, f16, f32], (R, C) = [(1, 2048), (16, 128)]))]
pub(super) fn convert<T: Float, U: Float, const R: i32, const C: i32>(
    x: Tensor<T, 2>,
    out: TensorMut<U, 2>,
) {
    let at = corner::<R, C>(out.dim(1));
    let x = x.tile(at, [R, C]).load();
    let out = out.tile(at, [R, C]);
    if T::BITS >= U::BITS {
        out.store(x.cast::<U>());
    } else if R == 1 {
        out.store(x.to_layout(FOUR_OF_A_ROW).cast::<U>());
    } else {
        out.store(x.to_layout(FOUR_OF_ROWS).cast::<U>());
    }
}
