//! Extents: those of arguments, and the constants of instances.

use kiln::prelude::*;

/// [`Error::Shape`] unless a tensor has the required shape.
pub(crate) fn require<const R: usize>(
    operation: &'static str,
    required: [usize; R],
    actual: [usize; R],
) -> Result<()> {
    if required == actual {
        return Ok(());
    }
    let (required, actual) = (required.to_vec(), actual.to_vec());
    Err(Error::Shape { operation, required, actual })
}

/// A constant of an instance, which is positive.
pub(crate) fn extent(constant: i32) -> usize {
    constant.unsigned_abs() as usize
}

/// A number of rows, blocks or the like, as kernels count.
#[cfg(any(feature = "grouped", feature = "matmul", feature = "rows"))]
pub(crate) fn count(number: usize) -> Result<i32> {
    i32::try_from(number).map_err(|_| Error::Shape {
        operation: "a number that kernels count to, at most",
        required: vec![i32::MAX.unsigned_abs() as usize],
        actual: vec![number],
    })
}

/// The clusters of so many blocks, one on a multiprocessor, that run at once. If fewer do, the rest run after them.
#[cfg(any(feature = "matmul", feature = "rows"))]
pub(crate) fn clusters_at_once(blocks: usize, multiprocessors: usize) -> usize {
    /// Of four, where 33 would take all of an H200 (`cuOccupancyMaxActiveClusters`): four does not divide the number of multiprocessors in
    /// each of its groups.
    const OF_FOUR: usize = 30;
    let all = multiprocessors / blocks;
    if blocks == 4 { all.min(OF_FOUR) } else { all }.max(1)
}
