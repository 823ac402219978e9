//! Numbers of one byte with scales.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use crate::{Real, shape::require};

mod kernel;

use kernel::scaled;

pub(super) const FLOAT8_TARGETS: &[Target] = scaled::rows_to_e4m3::TARGETS;

/// A type of quantised numbers: [`e4m3`], which takes `sm_89` or later, and `i8`.
pub trait Quantized: Element + sealed::Sealed {
    /// The largest magnitude that is used: 448 of [`e4m3`], 127 of `i8`.
    const LARGEST: f32;
}

impl Quantized for e4m3 {
    const LARGEST: f32 = 448.0;
}

impl Quantized for i8 {
    const LARGEST: f32 = 127.0;
}

mod sealed {
    use kiln::prelude::e4m3;

    /// The kernels are compiled for these types alone.
    pub trait Sealed {}

    impl Sealed for e4m3 {}
    impl Sealed for i8 {}
}

/// Launches the kernel of a format: one for `e4m3`, or one for `i8`.
macro_rules! launch {
    ($stream:expr, $Q:ty, $e4m3:ident | $i8:ident, |$i:ident| $fits:expr, $args:tt) => {
        if Dtype::of::<$Q>() == Dtype::E4m3 {
            scaled::$e4m3::find(|$i| $fits)?.with(scaled::$e4m3::Args $args).launch($stream)
        } else {
            scaled::$i8::find(|$i| $fits)?.with(scaled::$i8::Args $args).launch($stream)
        }
    };
}

/// Which elements share a scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaling {
    /// Those of a row. Scales are `[rows, 1]`.
    Rows,
    /// 128 neighbours of a row, or what is left of them at its end. Scales are `[rows, columns.div_ceil(128)]`.
    RowBlocks,
    /// Squares of 128 by 128, cut off at the edges. Scales are `[rows.div_ceil(128), columns.div_ceil(128)]`.
    Squares,
}

impl Scaling {
    /// The shape of the scales of a tensor.
    pub fn scales(self, [rows, columns]: [usize; 2]) -> [usize; 2] {
        match self {
            Scaling::Rows => [rows, 1],
            Scaling::RowBlocks => [rows, columns.div_ceil(128)],
            Scaling::Squares => [rows.div_ceil(128), columns.div_ceil(128)],
        }
    }
}

/// Numbers of one byte and their scales, `x ≈ scale · out`.
///
/// A scale is the largest magnitude over [`Quantized::LARGEST`], and at least 2^-126; it is 1 if there are only zeros and NaN. A number is
/// `x` times the reciprocal of its scale, rounded to the nearest, of two the even one.
///
/// NaN is left out when the largest magnitude is sought, and becomes NaN in [`e4m3`] and 0 in `i8`. If there is an infinity, the scale is
/// infinite: finite numbers become 0, and infinities what NaN does.
///
/// ```
/// use kiln::prelude::*;
/// use kiln_kernels::pointwise::{self, Scaling, dequantize, quantize};
///
/// let stream = Device::best_for(pointwise::TARGETS)?.stream()?;
/// let x = stream.upload(&[1.27f32, -0.5, 0.0, 0.0], [2, 2])?;
/// let mut numbers = stream.zeros::<i8, 2>([2, 2])?;
/// let mut scales = stream.zeros(Scaling::Rows.scales([2, 2]))?;
/// quantize(&stream, Scaling::Rows, &x, &mut numbers, &mut scales)?;
/// assert_eq!(numbers.to_vec(&stream)?, [127, -50, 0, 0]);
/// assert_eq!(scales.to_vec(&stream)?, [0.01, 1.0]);
///
/// let mut back = stream.zeros::<f32, 2>([2, 2])?;
/// dequantize(&stream, Scaling::Rows, &numbers, &scales, &mut back)?;
/// assert_eq!(back.to_vec(&stream)?, [1.27, -0.5, 0.0, 0.0]);
/// # Ok::<(), kiln::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] for extents that do not fit together, those of launches.
pub fn quantize<T: Real, Q: Quantized>(
    stream: &Stream,
    scaling: Scaling,
    x: &impl TensorArgument<T, 2>,
    out: &mut impl TensorArgumentMut<Q, 2>,
    scales: &mut impl TensorArgumentMut<f32, 2>,
) -> Result<()> {
    let shape = x.tensor()?.shape();
    require("quantisation, of out", shape, out.tensor_mut()?.shape())?;
    require("quantisation, of scales", scaling.scales(shape), scales.tensor_mut()?.shape())?;
    let of_x = Dtype::of::<T>();
    match (scaling, shape[1]) {
        (Scaling::Rows, columns @ 0..=16384) => {
            let width = match columns {
                0..=512 => 512,
                513..=1024 => 1024,
                1025..=2048 => 2048,
                2049..=4096 => 4096,
                4097..=8192 => 8192,
                _ => 16384,
            };
            launch!(stream, Q, rows_to_e4m3 | rows_to_i8, |i| (i.T, i.N) == (of_x, width), { x, out, scales })
        }
        (Scaling::Rows, _) => {
            launch!(stream, Q, long_rows_to_e4m3 | long_rows_to_i8, |i| i.T == of_x, { x, out, scales })
        }
        (Scaling::RowBlocks | Scaling::Squares, _) => {
            let rows = if scaling == Scaling::Squares { 128 } else { 1 };
            launch!(stream, Q, blocks_to_e4m3 | blocks_to_i8, |i| (i.T, i.ROWS) == (of_x, rows), { x, out, scales })
        }
    }
}

/// `out = scale · x`, computed in f32 and rounded once.
///
/// # Errors
/// [`Error::Shape`] for extents that do not fit together, those of launches.
pub fn dequantize<Q: Quantized, T: Real>(
    stream: &Stream,
    scaling: Scaling,
    x: &impl TensorArgument<Q, 2>,
    scales: &impl TensorArgument<f32, 2>,
    out: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    let shape = x.tensor()?.shape();
    require("dequantisation, of out", shape, out.tensor_mut()?.shape())?;
    require("dequantisation, of scales", scaling.scales(shape), scales.tensor()?.shape())?;
    let of_out = Dtype::of::<T>();
    // How many rows of a tile of 16 have scales of their own, how many rows share one, and how many columns do.
    let (own, shared_rows, shared_columns) = match scaling {
        Scaling::Rows => (16, 1, i32::MAX),
        Scaling::RowBlocks => (16, 1, 128),
        Scaling::Squares => (1, 128, 128),
    };
    launch!(stream, Q, from_e4m3 | from_i8, |i| (i.T, i.OWN) == (of_out, own), { x, scales, out, shared_rows, shared_columns })
}
