//! Shared layouts with padding: a linear layout followed by an address that skips ahead.

use crate::forms::swizzled_shared;
use crate::{Dim, Layout, LayoutError};

/// A shared layout that skips elements after each interval.
///
/// A linear layout says which element an offset holds; its address is
/// `offset + Σ padding · ⌊offset / interval⌋`, in elements. The sum is not linear over GF(2), which is why this is a type
/// of its own.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PaddedShared {
    layout: Layout,
    padding: Vec<(u32, u32)>,
}

impl PaddedShared {
    /// `layout` with padding: pairs of an interval and the elements skipped after each interval.
    ///
    /// ```
    /// use kernel_layout::forms::row_major_shared;
    /// use kernel_layout::PaddedShared;
    /// // Rows of 32 elements, 4 apart.
    /// let padded = PaddedShared::new(row_major_shared(&[8, 32])?, vec![(32, 4)])?;
    /// assert_eq!([padded.address(31), padded.address(32), padded.address(65)], [31, 36, 73]);
    /// assert_eq!(padded.len(), 8 * 32 + 7 * 4);
    /// # Ok::<(), kernel_layout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    /// When an interval or a padding is not a power of two, or an interval occurs twice.
    pub fn new(layout: Layout, padding: Vec<(u32, u32)>) -> Result<PaddedShared, LayoutError> {
        for (index, &(interval, elements)) in padding.iter().enumerate() {
            if !interval.is_power_of_two() {
                return Err(LayoutError::NotPowerOfTwo {
                    what: "interval",
                    index,
                    actual: interval,
                });
            }
            if !elements.is_power_of_two() {
                return Err(LayoutError::NotPowerOfTwo {
                    what: "padding",
                    index,
                    actual: elements,
                });
            }
            if padding[..index].iter().any(|&(other, _)| other == interval) {
                return Err(LayoutError::RepeatedInterval { actual: interval });
            }
        }
        Ok(PaddedShared { layout, padding })
    }

    /// A tile stored row by row, the axes in `order` (fastest first), with padding.
    ///
    /// Rows of 32 words, each followed by 4: a column then passes through all banks, eight rows at a time.
    ///
    /// ```
    /// use kernel_layout::PaddedShared;
    /// let padded = PaddedShared::with_identity_for(vec![(32, 4)], &[8, 32], &[1, 0])?;
    /// assert_eq!([0, 1, 2, 3].map(|row| padded.address(32 * row) % 32), [0, 4, 8, 12]);
    /// # Ok::<(), kernel_layout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    /// As [`PaddedShared::new`]; when a size is not a power of two or `order` does not name every axis once.
    pub fn with_identity_for(
        padding: Vec<(u32, u32)>,
        shape: &[u32],
        order: &[u32],
    ) -> Result<PaddedShared, LayoutError> {
        PaddedShared::new(swizzled_shared(1, 1, 1, order, shape)?, padding)
    }

    /// The linear part: from offset to the element it holds.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The intervals and what is skipped after each.
    pub fn padding(&self) -> &[(u32, u32)] {
        &self.padding
    }

    /// The address in elements of an offset.
    pub fn address(&self, offset: u32) -> u32 {
        offset
            + self
                .padding
                .iter()
                .map(|&(interval, elements)| elements * (offset / interval))
                .sum::<u32>()
    }

    /// The elements of memory that the tile takes up, padding between them included.
    pub fn len(&self) -> u32 {
        self.address(self.layout.in_size(Dim::Offset) - 1) + 1
    }

    /// Whether the tile takes up no memory: never, since it has at least one element.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The longest run of elements whose addresses are consecutive at every aligned offset.
    pub fn run(&self) -> u32 {
        self.padding
            .iter()
            .map(|&(interval, _)| interval)
            .fold(1 << self.layout.bases(Dim::Offset).len(), u32::min)
    }
}
