//! Running sums of rows.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use crate::{
    scratch::shaped,
    shape::{extent, require},
};

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
    use kiln::prelude::{DeviceTensor, Element, bf16, f16};

    use super::PrefixSums;

    /// The kernels are compiled for these types alone.
    pub trait Sealed {
        /// The type of the sums.
        type Sum: Element;
        /// Where they are kept.
        fn sums(memory: &mut PrefixSums) -> &mut DeviceTensor<Self::Sum, 1>;
    }

    macro_rules! sealed {
        ($($T:ty: $Sum:ty, $field:ident;)*) => {$(
            impl Sealed for $T {
                type Sum = $Sum;

                fn sums(memory: &mut PrefixSums) -> &mut DeviceTensor<$Sum, 1> {
                    &mut memory.$field
                }
            }
        )*};
    }
    sealed! {
        bf16: f32, numbers;
        f16: f32, numbers;
        f32: f32, numbers;
        i32: i32, integers;
    }
}

/// The running sums of each row: `x` and `out` have the shape `[rows, columns]`.
///
/// A vector is one row. The order of additions depends on the shape alone, so that the sums are the same in every run. Fewer than 128 rows
/// of more than 4096 columns are summed by several blocks each: that allocates memory for their sums, which a
/// [`capture`](kiln::Device::capture) refuses. [`PrefixSums`] keep it from one call to the next.
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
    PrefixSums::new(stream)?.sum(stream, part, x, out)
}

/// Computes running sums of rows, and keeps scratch memory from one [`sum`](PrefixSums::sum) to the next.
///
/// `PrefixSums` serve any number of shapes, types and streams of their device. Sums of fewer than 128 rows of more than 4096 columns wait for
/// those before, because they share the scratch memory; one of the same extents has to have run before it is recorded in a
/// [`capture`](kiln::Device::capture), which cannot allocate.
#[derive(Debug)]
pub struct PrefixSums {
    /// Sums of parts of rows, of floating-point numbers and of integers.
    numbers: DeviceTensor<f32, 1>,
    integers: DeviceTensor<i32, 1>,
}

impl PrefixSums {
    /// Running sums on the device of a stream.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(stream: &Stream) -> Result<PrefixSums> {
        Ok(PrefixSums { numbers: stream.empty([0])?, integers: stream.empty([0])? })
    }

    /// The running sums of each row, as of [`prefix_sum`].
    ///
    /// # Errors
    /// Those of [`prefix_sum`].
    pub fn sum<T: Summand>(
        &mut self,
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
        let (ty, inclusive) = (Dtype::of::<T>(), i32::from(part == Part::Inclusive));
        let mut instances = sums::short::instances();
        if let Some(short) = instances.find(|i| i.T == ty && columns <= extent(i.N)) {
            return short.with(sums::short::Args { x, inclusive, out }).launch(stream);
        }
        // Parts of whole tiles, which together are up to 1024 blocks.
        let tile = extent(sums::N);
        let parts = if rows < 128 { columns.div_ceil(tile).min(1024 / rows) } else { 1 };
        let columns_of_part = columns.div_ceil(parts).next_multiple_of(tile);
        let length = i32::try_from(columns_of_part).expect("at most 2^30 columns");
        // A single part has none before it, and sums outside of the tensor are zeros.
        let of_parts = if parts == 1 { 0 } else { columns.div_ceil(columns_of_part) };
        let mut of_parts = shaped(stream, T::sums(self), [rows, of_parts])?;
        sums::totals::find(|i| i.T == ty)?
            .with(sums::totals::Args { x, length, sums: &mut of_parts })
            .launch(stream)?;
        sums::long::find(|i| i.T == ty)?
            .with(sums::long::Args { x, sums: &of_parts, length, inclusive, out })
            .launch(stream)
    }
}

/// Sums of rows and of their parts.
#[kiln::kernel]
mod sums {
    use kiln::prelude::*;

    /// Columns of a tile.
    pub(super) const N: i32 = 4096;

    /// What comes before each element of a tile in its row, and that with the element itself if sums are inclusive.
    fn running<S: Number>(x: Tile<S>, inclusive: i32) -> Tile<S> {
        let before = x.scan_exclusive(1, S::ZERO, |a, b| a + b);
        if inclusive == 1 { before + x } else { before }
    }

    /// `R` rows of up to `N` columns a block.
    #[kernel(target = sm_80, warps = 4, grid = cdiv(x.dim(0), R),
             instances((T, S) = [(bf16, f32), (f16, f32), (f32, f32), (i32, i32)], (R, N) = [(32, 64), (4, 1024)]))]
    pub fn short<T: Cast, S: Number + Cast, const R: i32, const N: i32>(
        x: Tensor<T, 2>,
        inclusive: i32,
        out: TensorMut<T, 2>,
    ) {
        let row = block_id(0) * R;
        let x = x.tile([row, 0], [R, N]).load().cast::<S>();
        out.tile([row, 0], [R, N]).store(running(x, inclusive).cast::<T>());
    }

    /// The sum of a part of `length` columns.
    #[kernel(target = sm_80, warps = 8, grid = sums.dim(0) * sums.dim(1),
             instances((T, S) = [(bf16, f32), (f16, f32), (f32, f32), (i32, i32)]))]
    pub fn totals<T: Cast, S: Number + Cast>(x: Tensor<T, 2>, length: i32, sums: TensorMut<S, 2>) {
        let (part, row) = (block_id(0) % sums.dim(1), block_id(0) / sums.dim(1));
        let mut sum = zeros::<S>([1, N]);
        for tile in 0..length / N {
            sum += x.tile([row, part * length + tile * N], [1, N]).load().cast::<S>();
        }
        sums.tile([row, part], [1, 1]).store(sum.sum(1).expand(1));
    }

    /// The running sums of a part of `length` columns, from the sums of the parts before it. The next tile is in flight meanwhile.
    #[kernel(target = sm_80, warps = 8, grid = cdiv(x.dim(1), length) * x.dim(0),
             instances((T, S) = [(bf16, f32), (f16, f32), (f32, f32), (i32, i32)]))]
    pub fn long<T: Cast, S: Number + Cast>(
        x: Tensor<T, 2>,
        sums: Tensor<S, 2>,
        length: i32,
        inclusive: i32,
        out: TensorMut<T, 2>,
    ) {
        let parts = cdiv(x.dim(1), length);
        let (part, row) = (block_id(0) % parts, block_id(0) / parts);
        let first = part * length;
        let mut next = x.tile([row, first], [1, N]).load();
        let is_before = arange(0, 1024).lt(part).expand(0);
        let totals = select(is_before, sums.tile([row, 0], [1, 1024]).load(), S::ZERO);
        let mut before = totals.sum(1).expand(1);
        for tile in 0..length / N {
            let at = first + tile * N;
            let these = next.cast::<S>();
            next = x.tile([row, at + N], [1, N]).load();
            out.tile([row, at], [1, N]).store((running(these, inclusive) + before).cast::<T>());
            before += these.sum(1).expand(1);
        }
    }
}
