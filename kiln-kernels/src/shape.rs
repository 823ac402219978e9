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
#[cfg(any(feature = "grouped", feature = "matmul"))]
pub(crate) fn count(number: usize) -> Result<i32> {
    i32::try_from(number).map_err(|_| Error::Shape {
        operation: "a number that kernels count to, at most",
        required: vec![i32::MAX.unsigned_abs() as usize],
        actual: vec![number],
    })
}
