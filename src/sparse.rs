//! Matrices of which half is zeros, as [`dot_sparse`](crate::lang::dot_sparse), [`wgmma::mma_sparse`](crate::lang::wgmma::mma_sparse) and
//! [`tcgen05::mma_sparse`](crate::lang::tcgen05::mma_sparse) take them: what is kept of each row, and metadata that says where it was.
//!
//! [`prune`] makes such a matrix of any other, [`compress`] stores its halves, and [`decompress`] is the way back.
//!
//! ```
//! use kiln::{prelude::*, sparse};
//!
//! /// Products of 64 columns of weights at a time, of which 32 are kept.
//! #[kernel(target = sm_80, warps = 4, grid = 1)]
//! fn times(w: Tensor<f16, 2>, m: Tensor<u16, 2>, x: Tensor<f16, 2>, out: TensorMut<f32, 2>) {
//!     let mut acc = zeros::<f32>([32, 16]);
//!     for k in range(0, x.dim(0), 64) {
//!         let kept = w.tile([0, k / 2], [32, 32]).load();
//!         let metadata = m.tile([0, k / 16], [32, 4]).load();
//!         acc = dot_sparse(kept, x.tile([k, 0], [64, 16]).load(), acc, metadata);
//!     }
//!     out.tile([0, 0], [32, 16]).store(acc);
//! }
//!
//! let mut weights: Vec<f16> = (0..32 * 128).map(|at| f16::from_f32((at * 7 % 31 - 15) as f32)).collect();
//! sparse::prune(&mut weights, 128)?;
//! let compressed = sparse::compress(&weights, 128)?;
//! assert_eq!((compressed.kept_shape, compressed.metadata_shape), ([32, 64], [32, 8]));
//!
//! let device = Device::emulator(Target::Sm80)?;
//! let stream = device.stream()?;
//! let w = stream.upload(&compressed.kept, compressed.kept_shape)?;
//! let m = stream.upload(&compressed.metadata, compressed.metadata_shape)?;
//! let x = stream.full([128, 16], f16::ONE)?;
//! let mut out = stream.zeros([32, 16])?;
//! times(times::Args { w: &w, m: &m, x: &x, out: &mut out }).launch(&stream)?;
//! let sum: f32 = weights[..128].iter().map(|weight| weight.to_f32()).sum();
//! assert_eq!(out.to_vec(&stream)?[..16], [sum; 16]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Format
//!
//! A row is divided into groups of adjacent elements. Two of four elements are kept of `f16`, `bf16`, `i8`, `u8`, `e4m3` and `e5m2`, one of
//! two of `f32`. The kept ones of a row stand one after the other, in their order. Each element of metadata, a `u16`, has four bits for
//! each of four adjacent groups, the first group in the lowest bits:
//!
//! | type | columns of an element of metadata | its four bits of a group |
//! |---|---|---|
//! | of 16 and 8 bits | 16 | the lower two: the place of the first kept element, 0 to 3; the upper two: that of the second, which is larger |
//! | `f32` | 8 | `0b0100`: the first element is kept; `0b1110`: the second |
//!
//! (PTX ISA, "Sparse matrix storage".) Other libraries store the same bits in orders that belong to their kernels.

use std::fmt;

use kernel_runtime::{
    Element,
    formats::{e4m3, e5m2},
};

use half::{bf16, f16};

/// Groups that an element of metadata describes.
const GROUPS: usize = 4;

/// An element type of matrices that can be [compressed](compress): `f16`, `bf16`, `f32`, `i8`, `u8`, `e4m3` and `e5m2`.
pub trait Sparse: Element {
    /// The adjacent elements of a group, of which half is kept.
    const GROUP: usize;

    /// The absolute value; NaN is above all numbers.
    #[doc(hidden)]
    fn magnitude(self) -> f32;
}

/// The absolute value of a float.
fn size(value: f32) -> f32 {
    if value.is_nan() { f32::INFINITY } else { value.abs() }
}

macro_rules! sparse {
    ($($ty:ty: $group:literal, |$value:ident| $magnitude:expr;)*) => {
        $(impl Sparse for $ty {
            const GROUP: usize = $group;

            fn magnitude(self) -> f32 {
                let $value = self;
                $magnitude
            }
        })*
    };
}

sparse! {
    f16: 4, |value| size(value.to_f32());
    bf16: 4, |value| size(value.to_f32());
    f32: 2, |value| size(value);
    i8: 4, |value| f32::from(value.unsigned_abs());
    u8: 4, |value| f32::from(value);
    e4m3: 4, |value| size(value.to_f32());
    e5m2: 4, |value| size(value.to_f32());
}

/// A matrix of which half is zeros, as [`compress`] stores it.
#[derive(Clone, Debug, PartialEq)]
pub struct Compressed<T> {
    /// What is kept, row by row.
    pub kept: Vec<T>,
    /// The shape of `kept`: the rows, and half of the columns.
    pub kept_shape: [usize; 2],
    /// Where it was, in the [format](self#format) of this module.
    pub metadata: Vec<u16>,
    /// The shape of `metadata`: the rows, and a column for each 16 columns of the matrix, or 8 of `f32`.
    pub metadata_shape: [usize; 2],
}

/// Why a matrix could not be compressed, or decompressed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The columns are not whole elements of metadata.
    Columns {
        /// What the columns have to be a multiple of.
        multiple: usize,
        /// The columns.
        actual: usize,
    },
    /// The elements are not whole rows, or not those of the other part.
    Length {
        /// What it is: the matrix, the kept elements or the metadata.
        what: &'static str,
        /// How many elements there have to be, or, of a matrix, what they have to be a multiple of.
        required: usize,
        /// How many elements there are.
        actual: usize,
    },
    /// More than half of a group is not zero.
    Group {
        /// The row.
        row: usize,
        /// The first column of the group.
        column: usize,
        /// How many elements of a group may be other than zero.
        required: usize,
        /// How many are.
        actual: usize,
    },
    /// Metadata names no elements of a group.
    Metadata {
        /// The row.
        row: usize,
        /// The first column of the group.
        column: usize,
        /// Its four bits.
        bits: u16,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Columns { multiple, actual } => {
                write!(
                    f,
                    "a matrix of {actual} columns has no metadata: required a multiple of {multiple} columns"
                )
            }
            Error::Length { what: what @ "matrix", required, actual } => {
                write!(
                    f,
                    "the {what} has {actual} elements: required a multiple of {required}, its columns"
                )
            }
            Error::Length { what, required, actual } => {
                write!(f, "there are {actual} elements of {what}: required {required}")
            }
            Error::Group { row, column, required, actual } => write!(
                f,
                "row {row} has {actual} elements that are not zero in the group from column {column} on: required {required} at most; `sparse::prune` sets the others to zero"
            ),
            Error::Metadata { row, column, bits } => write!(
                f,
                "the metadata of row {row} is {bits:#06b} for the group from column {column} on, which names no elements of it"
            ),
        }
    }
}

impl std::error::Error for Error {}

/// Sets all but the half of each group that is largest in magnitude to zero. Of equals the first ones stay; NaN counts as largest.
///
/// # Errors
/// If `columns` is not a multiple of 16, or 8 of `f32`, or `dense` has no whole rows.
///
/// ```
/// let mut row = [1i8, -5, 3, 3, 0, 0, 0, 7, 9, 9, 9, 9, -128, 127, 2, 126];
/// kiln::sparse::prune(&mut row, 16)?;
/// assert_eq!(row, [0, -5, 3, 0, 0, 0, 0, 7, 9, 9, 0, 0, -128, 127, 0, 0]);
/// # Ok::<(), kiln::sparse::Error>(())
/// ```
pub fn prune<T: Sparse>(dense: &mut [T], columns: usize) -> Result<(), Error> {
    rows_of(dense, columns)?;
    for group in dense.chunks_exact_mut(T::GROUP) {
        let mut order = [0, 1, 2, 3];
        let order = &mut order[..T::GROUP];
        // The sort is stable.
        order.sort_by(|&a, &b| group[b].magnitude().total_cmp(&group[a].magnitude()));
        for &at in &order[T::GROUP / 2..] {
            group[at] = T::default();
        }
    }
    Ok(())
}

/// Compresses a matrix of rows of `columns` elements, of which at most half of each group is not zero.
///
/// If more than half of a group is zeros, some zeros are kept: the first ones.
///
/// # Errors
/// If more than half of a group is not zero, `columns` is not a multiple of 16, or 8 of `f32`, or `dense` has no whole rows.
///
/// ```
/// let row = [0u8, 0, 3, 4, 0, 6, 0, 0, 0, 0, 0, 0, 1, 0, 0, 2];
/// let compressed = kiln::sparse::compress(&row, 16)?;
/// assert_eq!(compressed.kept, [3, 4, 0, 6, 0, 0, 1, 2]);
/// assert_eq!(compressed.metadata, [0b1100_0100_0100_1110]);
/// # Ok::<(), kiln::sparse::Error>(())
/// ```
pub fn compress<T: Sparse>(dense: &[T], columns: usize) -> Result<Compressed<T>, Error> {
    let rows = rows_of(dense, columns)?;
    let mut kept = Vec::with_capacity(dense.len() / 2);
    let mut metadata = vec![0u16; dense.len() / (GROUPS * T::GROUP)];
    for (number, group) in dense.chunks_exact(T::GROUP).enumerate() {
        let most = T::GROUP / 2;
        let is_zero = |at: &usize| group[*at].magnitude() == 0.0;
        let used: Vec<usize> = (0..T::GROUP).filter(|at| !is_zero(at)).collect();
        if used.len() > most {
            let (row, column) = (number * T::GROUP / columns, number * T::GROUP % columns);
            return Err(Error::Group { row, column, required: most, actual: used.len() });
        }
        let mut places: Vec<usize> =
            (0..T::GROUP).filter(is_zero).take(most - used.len()).chain(used).collect();
        places.sort_unstable();
        kept.extend(places.iter().map(|at| group[*at]));
        metadata[number / GROUPS] |= bits_of(&places) << (4 * (number % GROUPS));
    }
    let metadata_shape = [rows, columns / (GROUPS * T::GROUP)];
    Ok(Compressed { kept, kept_shape: [rows, columns / 2], metadata, metadata_shape })
}

/// The matrix of which [`compress`] gives these two parts, of rows of `columns` elements.
///
/// # Errors
/// If `columns` is not a multiple of 16, or 8 of `f32`, the lengths do not fit, or metadata names no elements of a group: two of them in
/// their order, or, of `f32`, one.
///
/// ```
/// let row = kiln::sparse::decompress(&[1.5f32, 2.5, 0.0, 4.5], &[0b1110_0100_0100_1110], 8)?;
/// assert_eq!(row, [0.0, 1.5, 2.5, 0.0, 0.0, 0.0, 0.0, 4.5]);
/// # Ok::<(), kiln::sparse::Error>(())
/// ```
pub fn decompress<T: Sparse>(
    kept: &[T],
    metadata: &[u16],
    columns: usize,
) -> Result<Vec<T>, Error> {
    let mut dense = vec![T::default(); 2 * kept.len()];
    let rows = rows_of(&dense, columns)?;
    let required = rows * (columns / (GROUPS * T::GROUP));
    if metadata.len() != required {
        return Err(Error::Length { what: "metadata", required, actual: metadata.len() });
    }
    let groups = dense.chunks_exact_mut(T::GROUP).zip(kept.chunks_exact(T::GROUP / 2));
    for (number, (group, kept)) in groups.enumerate() {
        let bits = metadata[number / GROUPS] >> (4 * (number % GROUPS)) & 0xf;
        let places = [bits & 3, bits >> 2].map(usize::from);
        let places = match (T::GROUP, places) {
            (2, [0, 1]) => [0, 0],
            (2, [2, 3]) => [1, 1],
            (4, [first, second]) if first < second => places,
            _ => {
                let (row, column) = (number * T::GROUP / columns, number * T::GROUP % columns);
                return Err(Error::Metadata { row, column, bits });
            }
        };
        for (at, value) in places.into_iter().zip(kept) {
            group[at] = *value;
        }
    }
    Ok(dense)
}

/// The four bits of a group of which the elements at these places are kept.
fn bits_of(places: &[usize]) -> u16 {
    let index = |at: usize| u16::try_from(at).expect("a group has four places at most");
    match *places {
        // Indices of both halves of an element of 32 bits.
        [at] => index(2 * at) | index(2 * at + 1) << 2,
        [first, second] => index(first) | index(second) << 2,
        _ => unreachable!("one or two elements of a group are kept"),
    }
}

/// The rows of a matrix.
fn rows_of<T: Sparse>(dense: &[T], columns: usize) -> Result<usize, Error> {
    let multiple = GROUPS * T::GROUP;
    if columns == 0 || !columns.is_multiple_of(multiple) {
        return Err(Error::Columns { multiple, actual: columns });
    }
    if !dense.len().is_multiple_of(columns) {
        return Err(Error::Length { what: "matrix", required: columns, actual: dense.len() });
    }
    Ok(dense.len() / columns)
}
