//! Positions of extremes.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use crate::{
    Real,
    shape::{extent, require},
};

/// The index of the greatest element of each row: `x` has the shape `[rows, columns]`, `out` the shape `[rows]`.
///
/// Of equal elements the first counts, and the zeros are equal. NaN counts as the greatest, as in `torch.argmax`. Rows have at least one
/// column.
///
/// # Errors
/// [`Error::Shape`] for extents that do not fit together and for rows without columns, those of the launch.
pub fn argmax<T: Real>(
    stream: &Stream,
    x: &impl TensorArgument<T, 2>,
    out: &mut impl TensorArgumentMut<i32, 1>,
) -> Result<()> {
    extreme(["argmax, of x", "argmax, of out"], 1.0, stream, x, out)
}

/// The index of the least element of each row: `x` has the shape `[rows, columns]`, `out` the shape `[rows]`.
///
/// Of equal elements the first counts, and the zeros are equal. NaN counts as the least, as in `torch.argmin`. Rows have at least one
/// column.
///
/// # Errors
/// Those of [`argmax`].
#[cfg(feature = "routing")]
pub fn argmin<T: Real>(
    stream: &Stream,
    x: &impl TensorArgument<T, 2>,
    out: &mut impl TensorArgumentMut<i32, 1>,
) -> Result<()> {
    extreme(["argmin, of x", "argmin, of out"], -1.0, stream, x, out)
}

/// The index of the greatest element of each row, times a sign.
fn extreme<T: Real>(
    [of_x, of_out]: [&'static str; 2],
    sign: f32,
    stream: &Stream,
    x: &impl TensorArgument<T, 2>,
    out: &mut impl TensorArgumentMut<i32, 1>,
) -> Result<()> {
    let [rows, columns] = x.tensor()?.shape();
    require(of_x, [rows, columns.max(1)], [rows, columns])?;
    require(of_out, [rows], out.tensor_mut()?.shape())?;
    let ty = Dtype::of::<T>();
    if let Some(short) = positions::short::instances().find(|i| i.T == ty && columns <= extent(i.N))
    {
        return short.with(positions::short::Args { x, sign, out }).launch(stream);
    }
    positions::long::find(|i| i.T == ty)?
        .with(positions::long::Args { x, sign, out })
        .launch(stream)
}

/// Positions of the greatest elements of rows, times a sign.
#[kiln::kernel]
mod positions {
    use crate::order::items::{LEAST, ordered};
    use kiln::prelude::*;

    /// `R` rows of up to `N` columns a block.
    #[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), R), instances(T = [bf16, f16, f32], (R, N) = [(32, 64), (4, 1024)]))]
    pub fn short<T: Float, const R: i32, const N: i32>(
        x: Tensor<T, 2>,
        sign: f32,
        out: TensorMut<i32, 1>,
    ) {
        let row = block_id(0) * R;
        let keys = ordered(x.tile([row, 0], [R, N]).load().cast::<f32>() * sign);
        let keys = select(arange(0, N).lt(x.dim(1)).expand(0), keys, LEAST);
        out.tile([row], [R]).store(keys.argmax(1));
    }

    /// Columns of a tile.
    const N: i32 = 16384;

    /// A block has a row of any length. Of every `G` adjacent columns, which one thread holds, it keeps the greatest.
    #[kernel(target = sm_80, warps = 32, grid = x.dim(0), instances((T, G) = [(bf16, 8), (f16, 8), (f32, 4)]))]
    pub fn long<T: Float, const G: i32>(x: Tensor<T, 2>, sign: f32, out: TensorMut<i32, 1>) {
        let row = block_id(0);
        let group = arange(0, N / G) * G;
        let mut best = full::<i32>([N / G], LEAST);
        let mut at = zeros::<i32>([N / G]);
        for column in range(0, x.dim(1), N) {
            let keys = ordered(x.tile([row, column], [1, N]).load().cast::<f32>() * sign);
            let inside = (column + arange(0, N)).lt(x.dim(1)).expand(0);
            let keys = select(inside, keys, LEAST).reshape([N / G, G]);
            let (top, place) = (keys.max(1), keys.argmax(1));
            // The first of equal ones stays.
            let is_new = top.gt(best);
            best = select(is_new, top, best);
            at = select(is_new, column + group + place, at);
        }
        let (_, first) = (best, at)
            .reduce(0, |(a, i), (b, j)| if b > a || (b == a && j < i) { (b, j) } else { (a, i) });
        out.tile([row], [1]).store(first.expand(0));
    }
}
