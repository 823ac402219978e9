//! Splitting a layout's digits where shapes split the index.

use super::{Iter, TileAxis, TileError, TileLayout};

/// A layout whose digits are grouped by the axes of a shape.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Grouped {
    /// The layout, with digits split where the shape needs it.
    pub layout: TileLayout,
    /// Digits `separators[i]` up to `separators[i + 1]` make up axis `i`.
    pub separators: Vec<usize>,
}

impl Grouped {
    /// The digits of one axis.
    pub fn group(&self, axis: usize) -> &[Iter] {
        &self.layout.shard()[self.separators[axis]..self.separators[axis + 1]]
    }

    /// The digits of every axis.
    pub fn groups(&self) -> impl Iterator<Item = &[Iter]> {
        self.separators.windows(2).map(|ends| &self.layout.shard()[ends[0]..ends[1]])
    }
}

impl TileLayout {
    /// The layout with its digits split so that each axis of `shape` has its own digits; their order stays.
    ///
    /// `30 : 1` by 6×5 is `(6, 5) : (5, 1)`: a step of the first axis is five of the digit.
    ///
    /// ```
    /// use kernel_layout::tile::TileLayout;
    /// let grouped = TileLayout::row_major(&[30])?.group(&[6, 5])?;
    /// assert_eq!(grouped.layout.to_string(), "S[(6, 5) : (5, 1)]");
    /// assert_eq!(grouped.separators, [0, 1, 2]);
    /// # Ok::<(), kernel_layout::tile::TileError>(())
    /// ```
    ///
    /// # Errors
    /// When the shape has another number of elements, or a boundary of it is within a digit that it does not divide.
    ///
    /// # Ensures
    /// Every element keeps its place (`law_groups_keep_every_place`).
    pub fn group(&self, shape: &[u64]) -> Result<Grouped, TileError> {
        let refused = || TileError::Group {
            layout: self.to_string(),
            size: self.size(),
            shape: shape.to_vec(),
        };
        if shape.contains(&0) {
            return Err(refused());
        }
        let mut sizes = shape.iter().copied().peekable();
        let mut shard = Vec::new();
        let mut separators = vec![0];
        // The extents since the last boundary, what is left of the digit at hand included.
        let mut open = 1_u64;
        for iter in self.shard() {
            let mut extent = iter.extent;
            open *= extent;
            while let Some(size) = sizes.next_if(|size| open.is_multiple_of(*size)) {
                let rest = open / size;
                if !extent.is_multiple_of(rest) {
                    return Err(refused());
                }
                let stride = iter.stride.saturating_mul(rest.cast_signed());
                shard.push(Iter { extent: extent / rest, stride, axis: iter.axis });
                separators.push(shard.len());
                extent = rest;
                open = rest;
            }
            if extent != 1 {
                if sizes.peek().is_none() {
                    return Err(refused());
                }
                shard.push(Iter { extent, ..*iter });
            }
        }
        if open != 1 || sizes.any(|size| size != 1) {
            return Err(refused());
        }
        // Axes of size 1 beyond the last digit have none.
        separators.resize(shape.len() + 1, shard.len());
        let offset = self.offset().clone();
        let layout = TileLayout::new(shard, self.replica().to_vec(), offset)?;
        Ok(Grouped { layout, separators })
    }

    /// The layout with its digits split so that each axis of each of several shapes has its own digits: the coarsest
    /// such split. Returns the layout and, for each shape, its separators.
    ///
    /// Every boundary of a shape, counted in what is before it, is one of the result: 30 elements as 6×5 have boundaries
    /// 6 and 30, as 2×15 they have 2 and 30; together 2, 6, 30, which are digits of 2, 3 and 5.
    ///
    /// ```
    /// use kernel_layout::tile::TileLayout;
    /// let (layout, separators) = TileLayout::row_major(&[30])?.group_many(&[&[6, 5], &[2, 15]])?;
    /// assert_eq!(layout.to_string(), "S[(2, 3, 5) : (15, 5, 1)]");
    /// assert_eq!(separators, [[0, 2, 3], [0, 1, 3]]);
    /// # Ok::<(), kernel_layout::tile::TileError>(())
    /// ```
    ///
    /// # Errors
    /// When a shape has another number of elements, or of two boundaries neither divides the other.
    pub fn group_many(
        &self,
        shapes: &[&[u64]],
    ) -> Result<(TileLayout, Vec<Vec<usize>>), TileError> {
        let own: Vec<u64> = self.shard().iter().map(|iter| iter.extent).collect();
        let own_bounds = boundaries(&own);
        let all: Vec<Vec<u64>> = shapes.iter().map(|shape| boundaries(shape)).collect();
        for (shape, bounds) in shapes.iter().zip(&all) {
            if bounds.last().copied().unwrap_or(1) != self.size() {
                return Err(TileError::Group {
                    layout: self.to_string(),
                    size: self.size(),
                    shape: shape.to_vec(),
                });
            }
        }
        // A boundary is there as often as in the shape that has it most often: axes of size 1 stay.
        let count = |bounds: &[u64], at: u64| bounds.iter().filter(|&&other| other == at).count();
        let mut distinct: Vec<u64> = all.iter().flatten().chain(&own_bounds).copied().collect();
        distinct.sort_unstable();
        distinct.dedup();
        let mut cut = Vec::new();
        for &at in &distinct {
            let most = all.iter().map(|bounds| count(bounds, at)).max().unwrap_or(0);
            cut.extend(std::iter::repeat_n(at, most.max(count(&own_bounds, at))));
        }
        let mut shard = Vec::new();
        let mut before = 1;
        for (index, &at) in cut.iter().enumerate() {
            if at % before != 0 {
                return Err(TileError::Boundaries { first: before, second: at });
            }
            let nth = count(&cut[..index], at);
            shard.push(self.part(&own_bounds, before, at, nth));
            before = at;
        }
        let separators = all
            .iter()
            .map(|bounds| {
                let end = |(index, &at): (usize, &u64)| {
                    let nth = count(&bounds[..index], at);
                    let first = cut.partition_point(|&other| other < at);
                    if index + 1 == bounds.len() { cut.len() } else { first + nth + 1 }
                };
                std::iter::once(0).chain(bounds.iter().enumerate().map(end)).collect()
            })
            .collect();
        let layout = TileLayout::new(shard, self.replica().to_vec(), self.offset().clone())?;
        Ok((layout, separators))
    }

    /// The digit from boundary `before` to boundary `at`, or the `nth` one of extent 1 there.
    fn part(&self, own_bounds: &[u64], before: u64, at: u64, nth: usize) -> Iter {
        // A digit of extent 1 that the layout has itself keeps its stride.
        let own = own_bounds.partition_point(|&other| other < at);
        let same = own_bounds.get(own + nth).filter(|&&other| other == at);
        let digit =
            if same.is_some() { own + nth } else { own.min(own_bounds.len().saturating_sub(1)) };
        let Some(iter) = self.shard().get(digit) else {
            return Iter::new(1, 1, TileAxis::Memory);
        };
        let inner = (own_bounds[digit] / at).max(1).cast_signed();
        Iter { extent: at / before, stride: iter.stride.saturating_mul(inner), axis: iter.axis }
    }
}

/// The products of the first one, two, .. of `sizes`.
fn boundaries(sizes: &[u64]) -> Vec<u64> {
    let grow = |product: &mut u64, size: &u64| {
        *product = product.saturating_mul(*size);
        Some(*product)
    };
    sizes.iter().scan(1, grow).collect()
}
