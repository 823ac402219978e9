//! Transposed matrices.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use crate::shape::require;

/// An element type of matrices that are transposed: [`bf16`], [`struct@f16`], [`f32`], [`e4m3`], [`e5m2`], `i8`, `u8` and `i32`. Tensors of
/// other types of 1, 2 and 4 bytes are [reinterpreted](DeviceTensor::reinterpret) as one of these.
pub trait Moved: Element + sealed::Sealed {}

mod sealed {
    /// The kernels are compiled for these types alone.
    pub trait Sealed {}
}

macro_rules! moved {
    ($($element:ty),*) => {$(
        impl Moved for $element {}
        impl sealed::Sealed for $element {}
    )*};
}

moved!(bf16, f16, f32, e4m3, e5m2, i8, u8, i32);

/// Transposes each matrix: `x` is `[matrices, rows, columns]` and `out` `[matrices, columns, rows]`. Every bit is kept.
///
/// Rows of both that are contiguous and begin at multiples of 16 bytes are fastest.
///
/// # Errors
/// [`Error::Shape`] for extents that do not fit together, those of launches.
pub fn transpose<T: Moved>(
    stream: &Stream,
    x: &impl TensorArgument<T, 3>,
    out: &mut impl TensorArgumentMut<T, 3>,
) -> Result<()> {
    let [matrices, rows, columns] = x.tensor()?.shape();
    require("a transposition, of out", [matrices, columns, rows], out.tensor_mut()?.shape())?;
    turn::Values { T: Dtype::of::<T>() }.find()?.with(turn::Args { x, out }).launch(stream)
}

/// A block turns a tile of 128 by 128: what is read along rows is stored along columns, through shared memory. Neighbouring blocks store
/// neighbouring columns, so that the stores fill whole pages of memory.
#[kernel(target = sm_80, warps = 8, grid = cdiv(x.dim(1), 128) * cdiv(x.dim(2), 128) * x.dim(0),
         instances(T = [bf16, f16, f32, e4m3, e5m2, i8, u8, i32]))]
pub(super) fn turn<T: Scalar>(x: Tensor<T, 3>, out: TensorMut<T, 3>) {
    let (down, across) = (cdiv(x.dim(1), 128), cdiv(x.dim(2), 128));
    let (row, column) = (block_id(0) % down * 128, block_id(0) / down % across * 128);
    let matrix = block_id(0) / down / across;
    let tile = x.tile([matrix, row, column], [1, 128, 128]).load();
    out.tile([matrix, column, row], [1, 128, 128]).store(tile.permute([0, 2, 1]));
}
