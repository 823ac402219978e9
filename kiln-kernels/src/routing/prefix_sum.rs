//! Running sums of rows.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use crate::shape::{extent, require};

/// Whether a running sum has the element itself in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The sum of the element and all before it.
    Inclusive,
    /// The sum of all before the element, from 0 on.
    Exclusive,
}

/// A type that running sums are compiled for: [`bf16`], [`struct@f16`], [`f32`] and [`i32`]. Floating-point sums are computed in f32, and
/// integers wrap.
pub trait Summand: Element + sealed::Sealed {}

impl Summand for bf16 {}
impl Summand for f16 {}
impl Summand for f32 {}
impl Summand for i32 {}

mod sealed {
    use kiln::prelude::{Element, bf16, f16};

    /// The kernels are compiled for these types alone.
    pub trait Sealed {
        /// The type of the sums.
        type Sum: Element;
    }

    impl Sealed for bf16 {
        type Sum = f32;
    }
    impl Sealed for f16 {
        type Sum = f32;
    }
    impl Sealed for f32 {
        type Sum = f32;
    }
    impl Sealed for i32 {
        type Sum = i32;
    }
}

/// The running sums of each row: `x` and `out` have the shape `[rows, columns]`.
///
/// A vector is one row. The order of additions depends on the shape alone, so that the sums are the same in every run. Fewer than 256 rows
/// of more than 4096 columns are summed by several blocks each: that allocates memory for their sums, which a
/// [`capture`](kiln::Device::capture) refuses.
///
/// # Errors
/// [`Error::Shape`] for different extents and for more than 2^30 columns, those of the allocation and of launches.
#[doc(alias = "cumsum")]
pub fn prefix_sum<T: Summand>(
    stream: &Stream,
    part: Part,
    x: &impl TensorArgument<T, 2>,
    out: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    let shape @ [rows, columns] = x.tensor()?.shape();
    require("prefix_sum, of x", [rows, columns.min(1 << 30)], shape)?;
    require("prefix_sum, of out", shape, out.tensor_mut()?.shape())?;
    if shape.contains(&0) {
        return Ok(());
    }
    let (ty, inclusive) = (Dtype::of::<T>(), part == Part::Inclusive);
    if let Some(short) = sums::short::instances()
        .find(|i| (i.T, i.INCLUSIVE) == (ty, inclusive) && columns <= extent(i.N))
    {
        return short.with(sums::short::Args { x, out }).launch(stream);
    }
    // Parts of whole tiles, which together are up to 1024 blocks.
    let tile = extent(sums::N);
    let parts = columns.div_ceil(tile).min((1024 / rows).max(1));
    let parts = if rows < 256 { parts } else { 1 };
    let length = columns.div_ceil(parts).next_multiple_of(tile);
    let parts = columns.div_ceil(length);
    let length = i32::try_from(length).expect("at most 2^30 columns");
    let long = sums::long::find(|i| (i.T, i.INCLUSIVE) == (ty, inclusive))?;
    if parts == 1 {
        let args = sums::long::Args::<T, T::Sum> { x, sums: None, length, out };
        return long.with(args).launch(stream);
    }
    let mut of_parts = stream.empty::<T::Sum, 2>([rows, parts])?;
    sums::totals::find(|i| i.T == ty)?
        .with(sums::totals::Args { x, length, sums: &mut of_parts })
        .launch(stream)?;
    long.with(sums::long::Args { x, sums: Some(&of_parts), length, out }).launch(stream)
}

/// Sums of rows and of their parts.
#[kiln::kernel]
mod sums {
    use kiln::prelude::*;

    /// Columns of a tile.
    pub(super) const N: i32 = 4096;

    /// The running sums of each row of a tile.
    fn running<S: Number, const INCLUSIVE: bool>(x: Tile<S>) -> Tile<S> {
        if INCLUSIVE { x.cumsum(1) } else { x.scan_exclusive(1, S::ZERO, |a, b| a + b) }
    }

    /// `R` rows of up to `N` columns a block.
    #[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), R),
             instances((T, S) = [(bf16, f32), (f16, f32), (f32, f32), (i32, i32)], INCLUSIVE = [true, false],
                       (R, N) = [(32, 64), (4, 1024)]))]
    pub fn short<T: Cast, S: Number + Cast, const INCLUSIVE: bool, const R: i32, const N: i32>(
        x: Tensor<T, 2>,
        out: TensorMut<T, 2>,
    ) {
        let row = block_id(0) * R;
        let x = x.tile([row, 0], [R, N]).load().cast::<S>();
        out.tile([row, 0], [R, N]).store(running::<S, INCLUSIVE>(x).cast::<T>());
    }

    /// The sum of a part of `length` columns.
    #[kernel(target = sm_80, warps = 8, grid = sums.dim(0) * sums.dim(1),
             instances((T, S) = [(bf16, f32), (f16, f32), (f32, f32), (i32, i32)]))]
    pub fn totals<T: Cast, S: Number + Cast>(
        x: Tensor<T, 2>,
        length: i32,
        sums: TensorMut<S, 2>,
    ) {
        let (part, row) = (block_id(0) % sums.dim(1), block_id(0) / sums.dim(1));
        let mut sum = zeros::<S>([1, N]);
        for tile in 0..length / N {
            sum += x.tile([row, part * length + tile * N], [1, N]).load().cast::<S>();
        }
        sums.tile([row, part], [1, 1]).store(sum.sum(1).expand(1));
    }

    /// The running sums of a part of `length` columns, from the sums of the parts before it.
    #[kernel(target = sm_80, warps = 8, grid = cdiv(x.dim(1), length) * x.dim(0),
             instances((T, S) = [(bf16, f32), (f16, f32), (f32, f32), (i32, i32)], INCLUSIVE = [true, false]))]
    pub fn long<T: Cast, S: Number + Cast, const INCLUSIVE: bool>(
        x: Tensor<T, 2>,
        sums: Option<Tensor<S, 2>>,
        length: i32,
        out: TensorMut<T, 2>,
    ) {
        let parts = cdiv(x.dim(1), length);
        let (part, row) = (block_id(0) % parts, block_id(0) / parts);
        let mut before = zeros::<S>([1, 1]);
        if let Some(sums) = sums {
            let parts = sums.tile([row, 0], [1, 1024]).load();
            before = select(arange(0, 1024).lt(part).expand(0), parts, S::ZERO).sum(1).expand(1);
        }
        for tile in 0..length / N {
            let at = [row, part * length + tile * N];
            let x = x.tile(at, [1, N]).load().cast::<S>();
            out.tile(at, [1, N]).store((running::<S, INCLUSIVE>(x) + before).cast::<T>());
            before += x.sum(1).expand(1);
        }
    }
}
