//! Windows of a tensor.

use super::{Iter, Scopes, TileError, TileLayout};

impl TileLayout {
    /// The layout of a window: `region` gives its beginning and its extent along each axis of `shape`.
    ///
    /// The beginning becomes an offset; the digits are those of the window. A window that begins inside one digit and
    /// ends inside the next, in the middle of both, has a digit of two steps instead of them.
    ///
    /// ```
    /// use kernel_layout::tile::TileLayout;
    /// let rows: TileLayout = "S[(8, 8) : (8, 1)]".parse()?;
    /// assert_eq!(rows.slice(&[8, 8], &[(2, 4), (4, 4)])?.to_string(), "S[(4, 4) : (8, 1)] + 20");
    /// let blocks: TileLayout = "S[(128, 2, 64) : (64, 8192, 1)]".parse()?;
    /// // Columns 32 to 95: half of the first block, half of the second.
    /// assert_eq!(
    ///     blocks.slice(&[128, 128], &[(0, 128), (32, 64)])?.to_string(),
    ///     "S[(128, 2, 32) : (64, 8160, 1)] + 32",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the layout cannot be grouped by the shape, the window is not in the tensor, or it has no layout because it
    /// would need changing strides.
    ///
    /// # Ensures
    /// Elements of the window keep their places (`law_a_window_leaves_its_elements_where_they_are`).
    pub fn slice(&self, shape: &[u64], region: &[(u64, u64)]) -> Result<TileLayout, TileError> {
        if region.len() != shape.len() {
            let (actual, required) = (region.len(), shape.len());
            return Err(TileError::Rank { what: "ranges of the window", actual, required });
        }
        for (axis, (&(begin, extent), &size)) in region.iter().zip(shape).enumerate() {
            let end = begin.saturating_add(extent);
            if end > size {
                return Err(TileError::Window { axis, end, size });
            }
            if extent == 0 {
                return Err(TileError::Zero { what: "the extent of a window" });
            }
        }
        let grouped = self.canonicalize(Scopes::Kept).group(shape)?;
        let mut shard = Vec::new();
        let mut offset: Vec<_> = grouped.layout.offset().clone().into_iter().collect();
        for (axis, (digits, &(begin, extent))) in grouped.groups().zip(region).enumerate() {
            let starts = starts(digits, begin);
            let moved =
                |(iter, &start): (&Iter, &u64)| (iter.axis, start.cast_signed() * iter.stride);
            offset.extend(digits.iter().zip(&starts).map(moved).filter(|(_, amount)| *amount != 0));
            shard.extend(window(digits, &starts, extent).ok_or(TileError::Uneven { axis })?);
        }
        TileLayout::new(shard, grouped.layout.replica().to_vec(), offset)
    }
}

/// The digits of the first index of a window.
fn starts(digits: &[Iter], begin: u64) -> Vec<u64> {
    let mut rest = begin;
    let mut starts = vec![0; digits.len()];
    for (at, iter) in digits.iter().enumerate().rev() {
        starts[at] = if at == 0 { rest } else { rest % iter.extent };
        rest /= iter.extent;
    }
    starts
}

/// The digits of `extent` indices from the one with the digits `starts`, of one axis.
fn window(digits: &[Iter], starts: &[u64], extent: u64) -> Option<Vec<Iter>> {
    if let [only] = digits {
        return Some(vec![Iter { extent, ..*only }]);
    }
    // Digits that the window takes whole, from the innermost one out.
    let mut rest = extent;
    let mut pivot = digits.len();
    while pivot > 0 && starts[pivot - 1] == 0 && rest.is_multiple_of(digits[pivot - 1].extent) {
        rest /= digits[pivot - 1].extent;
        pivot -= 1;
    }
    let whole = &digits[pivot..];
    let Some(at) = pivot.checked_sub(1) else {
        return (rest == 1).then(|| whole.to_vec());
    };
    let digit = digits[at];
    if starts[at] + rest <= digit.extent {
        return Some([&[Iter { extent: rest, ..digit }], whole].concat());
    }
    // Half of the window at the end of this digit, half at the beginning of its next round: one step of the digit
    // before, less what the first half has gone too far.
    let half = rest / 2;
    let outer = digits[at.checked_sub(1)?];
    let even = rest.is_multiple_of(2) && starts[at] + half == digit.extent;
    if !even || outer.axis != digit.axis || starts[at - 1] + 1 >= outer.extent {
        return None;
    }
    let back = (digit.extent - half).cast_signed() * digit.stride;
    let step = Iter { extent: 2, stride: outer.stride - back, axis: digit.axis };
    Some([&[step, Iter { extent: half, ..digit }], whole].concat())
}
