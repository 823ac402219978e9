//! Comparing a matrix that a kernel computed with one computed on the host.

#[path = "norm.rs"]
mod norm;

/// The norm of the difference between `actual` and `required` over the norm of `required`, both given by row and column. NaN
/// stays NaN.
///
/// Over all elements of a small matrix; over 4096 of a large one, in rows and columns that lie everywhere, the last ones among
/// them.
pub fn relative_error(
    [rows, columns]: [usize; 2],
    required: impl Fn(usize, usize) -> f64,
    actual: impl Fn(usize, usize) -> f64,
) -> f64 {
    norm::relative_error(
        places([rows, columns]).map(|(row, column)| (required(row, column), actual(row, column))),
    )
}

/// The rows and columns that are compared: all of a small matrix, 4096 of a large one.
pub fn places([rows, columns]: [usize; 2]) -> impl Iterator<Item = (usize, usize)> {
    let count = (rows * columns).min(4096);
    (0..count).map(move |i| {
        if count == rows * columns {
            (i / columns, i % columns)
        } else {
            // Steps coprime to the extents visit rows and columns evenly.
            (rows - 1 - i * 7919 % rows, columns - 1 - i * 104_729 % columns)
        }
    })
}
