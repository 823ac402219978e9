//! Rows for choices, those of each expert adjacent.

use kiln::{TensorArgument, prelude::*};

use crate::shape::{extent, require};

mod kernel;

use kernel::places;

/// A row for each choice of an expert by a token: the rows of an expert are adjacent, and in the order of the tokens.
///
/// It stays on the device, as all that it is computed from. Its tensors are views for other kernels, a grouped product say.
#[derive(Debug)]
pub struct Permutation {
    multiple: i32,
    counts: DeviceTensor<i32, 1>,
    offsets: DeviceTensor<i32, 1>,
    rows: DeviceTensor<i32, 2>,
    sources: DeviceTensor<i32, 1>,
    /// The counts of each block, and then what the blocks before it have counted.
    parts: DeviceTensor<i32, 2>,
}

impl Permutation {
    /// The permutation of `indices`, `[tokens, k]`, with up to 512 experts. `indices` is contiguous.
    ///
    /// The rows of each expert begin at a multiple of `multiple`, for kernels whose tiles have one expert; 1 leaves no gaps. An index
    /// that is negative or not less than `experts` gets no row.
    ///
    /// # Errors
    /// [`Error::Shape`] for more than 512 experts and for a `multiple` of 0, [`Error::TooLarge`] for more rows than `i32` counts,
    /// [`Error::NotContiguous`], those of allocations and launches.
    pub fn new(
        stream: &Stream,
        indices: &impl TensorArgument<i32, 2>,
        experts: usize,
        multiple: usize,
    ) -> Result<Permutation> {
        let [tokens, k] = indices.tensor()?.shape();
        require("a permutation, of experts", [experts.min(extent(places::E))], [experts])?;
        require("a permutation, of multiples", [multiple.max(1)], [multiple])?;
        let too_large = || Error::TooLarge { shape: vec![tokens, k], dtype: i32::DTYPE };
        let capacity = (multiple - 1)
            .checked_mul(experts)
            .and_then(|gaps| gaps.checked_add(tokens.checked_mul(k)?))
            .filter(|&rows| i32::try_from(rows).is_ok())
            .ok_or_else(too_large)?;
        let blocks = (tokens * k).div_ceil(extent(places::B)).max(1);
        let mut permutation = Permutation {
            multiple: multiple.try_into().map_err(|_| too_large())?,
            counts: stream.empty([experts])?,
            offsets: stream.empty([experts + 1])?,
            rows: stream.empty([tokens, k])?,
            sources: stream.empty([capacity / multiple * multiple])?,
            parts: stream.empty([blocks, experts])?,
        };
        permutation.update(stream, indices)?;
        Ok(permutation)
    }

    /// The permutation of other indices of the same shape, in the same memory: what a [`capture`](kiln::Device::capture), which cannot
    /// allocate, records.
    ///
    /// # Errors
    /// [`Error::Shape`] for another shape, [`Error::NotContiguous`], those of launches.
    pub fn update(&mut self, stream: &Stream, indices: &impl TensorArgument<i32, 2>) -> Result<()> {
        let Permutation { multiple, counts, offsets, rows, sources, parts } = self;
        require("a permutation, of indices", rows.shape(), indices.tensor()?.shape())?;
        let (indices, count) = (indices.tensor()?, rows.len());
        let indices = &indices.reshape([count])?;
        let rows = &mut rows.reshape_mut([count])?;
        places::count(places::count::Args { indices, parts, sources }).launch(stream)?;
        places::add(places::add::Args { parts, counts }).launch(stream)?;
        let multiple = *multiple;
        places::place(places::place::Args { indices, parts, counts, multiple, offsets, rows })
            .launch(stream)?;
        places::invert(places::invert::Args { rows, sources }).launch(stream)
    }

    /// How many rows each expert has, without gaps: `[experts]`.
    #[must_use]
    pub fn counts(&self) -> &DeviceTensor<i32, 1> {
        &self.counts
    }

    /// Where the rows of each expert begin, and the end of all: `[experts + 1]`.
    #[must_use]
    pub fn offsets(&self) -> &DeviceTensor<i32, 1> {
        &self.offsets
    }

    /// The row of each choice, or -1: `[tokens, k]`.
    #[must_use]
    pub fn rows(&self) -> &DeviceTensor<i32, 2> {
        &self.rows
    }

    /// For each row the choice that it is of, `token * k + place`, or -1 in gaps and after the end: `[capacity]`.
    #[must_use]
    pub fn sources(&self) -> &DeviceTensor<i32, 1> {
        &self.sources
    }

    /// The most rows that so many choices need, with gaps: the extent of a tensor along the permutation.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.sources.len()
    }
}
