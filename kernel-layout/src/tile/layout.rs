//! [`TileLayout`] itself: its parts, and where it places elements.

use std::collections::BTreeMap;

use super::axis::scope;
use super::{Scope, ScopeError, TileAxis, TileError};

/// The largest product of extents, stride or offset; sums of products of two stay in 64 bits.
const LIMIT: i64 = 1 << 30;

/// One digit of an index: how many values it has, and how far apart they are along an axis.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Iter {
    /// How many values the digit has, at least 1.
    pub extent: u64,
    /// How far apart they are.
    pub stride: i64,
    /// The axis along which they are.
    pub axis: TileAxis,
}

impl Iter {
    /// A digit of `extent` values, `stride` apart along `axis`.
    pub fn new(extent: u64, stride: i64, axis: TileAxis) -> Iter {
        Iter { extent, stride, axis }
    }

    /// How far the last value is from the first.
    pub(crate) fn reach(&self) -> i64 {
        // Both are at most 2³⁰, see `TileLayout::new`.
        (self.extent.cast_signed() - 1) * self.stride
    }
}

/// The places of a tensor's elements: digits of the index, copies, and an offset.
///
/// Two are equal if they are written in the same way; see [`TileLayout::canonicalize`] for equal meaning.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TileLayout {
    shard: Vec<Iter>,
    replica: Vec<Iter>,
    offset: BTreeMap<TileAxis, i64>,
}

impl TileLayout {
    /// A layout from its parts: the digits of the index, outermost first; the digits of the copies, in any order; and
    /// the offsets along axes.
    ///
    /// ```
    /// use kernel_layout::tile::{Iter, TileAxis, TileLayout};
    /// let layout = TileLayout::new(
    ///     vec![Iter::new(32, 1, TileAxis::TLane), Iter::new(16, 1, TileAxis::TCol)],
    ///     vec![Iter::new(4, 32, TileAxis::TLane)],
    ///     [],
    /// )?;
    /// assert_eq!(layout.to_string(), "S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]");
    /// # Ok::<(), kernel_layout::tile::TileError>(())
    /// ```
    ///
    /// # Errors
    /// When an extent is 0, or extents multiply to more than 2³⁰, or a stride or offset is more than that.
    pub fn new(
        shard: Vec<Iter>,
        replica: Vec<Iter>,
        offset: impl IntoIterator<Item = (TileAxis, i64)>,
    ) -> Result<TileLayout, TileError> {
        for iters in [&shard, &replica] {
            let mut size = 1_u64;
            for iter in iters {
                if iter.extent == 0 {
                    return Err(TileError::Zero { what: "an extent" });
                }
                size = size.saturating_mul(iter.extent);
                if size > LIMIT.cast_unsigned() {
                    return Err(TileError::TooLarge { what: "the product of the extents" });
                }
                if iter.stride.checked_abs().is_none_or(|stride| stride > LIMIT) {
                    return Err(TileError::TooLarge { what: "a stride" });
                }
            }
        }
        let mut sums: BTreeMap<TileAxis, i64> = BTreeMap::new();
        for (axis, amount) in offset {
            let sum = sums.entry(axis).or_insert(0);
            *sum = sum.saturating_add(amount);
            if sum.checked_abs().is_none_or(|sum| sum > LIMIT) {
                return Err(TileError::TooLarge { what: "an offset" });
            }
        }
        Ok(TileLayout { shard, replica, offset: sums })
    }

    /// The elements of `shape` one after another in memory, the last axis fastest.
    ///
    /// ```
    /// use kernel_layout::tile::TileLayout;
    /// assert_eq!(TileLayout::row_major(&[3, 4])?.to_string(), "S[(3, 4) : (4, 1)]");
    /// # Ok::<(), kernel_layout::tile::TileError>(())
    /// ```
    ///
    /// # Errors
    /// As [`TileLayout::new`].
    pub fn row_major(shape: &[u64]) -> Result<TileLayout, TileError> {
        let mut stride = 1_i64;
        let mut shard = Vec::new();
        for &extent in shape.iter().rev() {
            shard.push(Iter::new(extent, stride, TileAxis::Memory));
            stride = stride.saturating_mul(extent.min(LIMIT.cast_unsigned()).cast_signed());
        }
        shard.reverse();
        TileLayout::new(shard, Vec::new(), [])
    }

    /// The digits of the index, outermost first.
    pub fn shard(&self) -> &[Iter] {
        &self.shard
    }

    /// The digits of the copies.
    pub fn replica(&self) -> &[Iter] {
        &self.replica
    }

    /// What is added along each axis.
    pub fn offset(&self) -> &BTreeMap<TileAxis, i64> {
        &self.offset
    }

    /// Every axis that occurs.
    pub fn axes(&self) -> Vec<TileAxis> {
        let iters = self.shard.iter().chain(&self.replica).map(|iter| iter.axis);
        let mut axes: Vec<TileAxis> = iters.chain(self.offset.keys().copied()).collect();
        axes.sort_unstable();
        axes.dedup();
        axes
    }

    /// The number of elements.
    ///
    /// ```
    /// use kernel_layout::tile::TileLayout;
    /// let layout: TileLayout = "S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)]".parse()?;
    /// assert_eq!(layout.size(), 64);
    /// # Ok::<(), kernel_layout::tile::NotationError>(())
    /// ```
    pub fn size(&self) -> u64 {
        self.shard.iter().map(|iter| iter.extent).product()
    }

    /// The product of the extents of the digits along one axis.
    pub fn size_along(&self, axis: TileAxis) -> u64 {
        self.shard.iter().filter(|iter| iter.axis == axis).map(|iter| iter.extent).product()
    }

    /// How many places along `axis` there are from the origin to the last one used: 1 + Σ (extent − 1)·stride over
    /// digits and copies, and the offset.
    ///
    /// ```
    /// use kernel_layout::tile::{TileAxis, TileLayout};
    /// let layout: TileLayout = "S[(8, 6) : (8, 1)]".parse()?;
    /// assert_eq!(layout.span(TileAxis::Memory), 62); // 7·8 + 5·1, and one
    /// # Ok::<(), kernel_layout::tile::NotationError>(())
    /// ```
    pub fn span(&self, axis: TileAxis) -> i64 {
        let iters = self.shard.iter().chain(&self.replica).filter(|iter| iter.axis == axis);
        1 + iters.map(Iter::reach).sum::<i64>() + self.offset.get(&axis).copied().unwrap_or(0)
    }

    /// [`TileLayout::span`] over all axes of memory together.
    pub fn span_of_memory(&self) -> i64 {
        let axes = self.axes();
        let spans = axes.iter().filter(|axis| !axis.is_thread()).map(|&axis| self.span(axis) - 1);
        1 + spans.sum::<i64>()
    }

    /// What the axes of threads count, and within what; nothing without such axes.
    ///
    /// ```
    /// use kernel_layout::tile::{Scope, TileLayout};
    /// let layout: TileLayout = "S[(4, 32) : (1 @ warpid, 1 @ laneid)]".parse()?;
    /// assert_eq!(layout.scope(), Ok(Some((Scope::Thread, Scope::Cta))));
    /// let gap: TileLayout = "S[(2, 32) : (1 @ wgid, 1 @ laneid)]".parse()?;
    /// assert!(gap.scope().is_err());
    /// # Ok::<(), kernel_layout::tile::NotationError>(())
    /// ```
    ///
    /// # Errors
    /// When two axes count the same within different groups (`laneid` and `tx`), or one is missing between two others.
    pub fn scope(&self) -> Result<Option<(Scope, Scope)>, ScopeError> {
        scope(&self.axes())
    }

    /// Where the element at `coordinate` of a tensor of `shape` is, its copies aside.
    ///
    /// Every axis that occurs is listed once, in the order of [`TileAxis`]'s first use among the digits. A coordinate past
    /// the end of axis 0 goes on as the first digit does.
    ///
    /// # Errors
    /// When there is not one coordinate for each axis.
    pub fn apply(
        &self,
        shape: &[u64],
        coordinate: &[u64],
    ) -> Result<Vec<(TileAxis, i64)>, TileError> {
        if coordinate.len() != shape.len() {
            let (actual, required) = (coordinate.len(), shape.len());
            return Err(TileError::Rank { what: "coordinates", actual, required });
        }
        let flat = shape
            .iter()
            .zip(coordinate)
            .fold(0_u64, |index, (&size, &at)| index.saturating_mul(size).saturating_add(at));
        if flat > LIMIT.cast_unsigned() {
            return Err(TileError::TooLarge { what: "the index" });
        }
        Ok(self.place(flat))
    }

    /// Where the element with a row-major index is, its copies aside.
    ///
    /// # Requires
    /// The index is at most 2³⁰.
    pub fn place(&self, index: u64) -> Vec<(TileAxis, i64)> {
        assert!(index <= LIMIT.cast_unsigned(), "index {index} exceeds any tensor");
        let mut rest = index;
        let mut digits = vec![0; self.shard.len()];
        for (at, iter) in self.shard.iter().enumerate().rev() {
            digits[at] = if at == 0 { rest } else { rest % iter.extent };
            rest /= iter.extent;
        }
        let mut places: Vec<(TileAxis, i64)> = Vec::new();
        let digits = self.shard.iter().zip(&digits);
        let steps = digits.map(|(iter, &digit)| (iter.axis, digit.cast_signed() * iter.stride));
        let offsets = self.offset.iter().map(|(&axis, &amount)| (axis, amount));
        for (axis, amount) in steps.chain(offsets) {
            match places.iter_mut().find(|(other, _)| *other == axis) {
                Some((_, sum)) => *sum += amount,
                None => places.push((axis, amount)),
            }
        }
        places
    }

    /// The offset of each copy of an element; the first entry, for the element itself, is empty or zero.
    ///
    /// ```
    /// use kernel_layout::tile::{TileAxis, TileLayout};
    /// let layout: TileLayout = "S[8 : 1] + R[2 : 4 @ warpid]".parse()?;
    /// assert_eq!(layout.replicas(), [vec![(TileAxis::WarpId, 0)], vec![(TileAxis::WarpId, 4)]]);
    /// # Ok::<(), kernel_layout::tile::NotationError>(())
    /// ```
    pub fn replicas(&self) -> Vec<Vec<(TileAxis, i64)>> {
        let mut all: Vec<Vec<(TileAxis, i64)>> = vec![Vec::new()];
        for iter in &self.replica {
            all = all
                .into_iter()
                .flat_map(|base| {
                    (0..iter.extent.cast_signed()).map(move |digit| {
                        let mut copy = base.clone();
                        match copy.iter_mut().find(|(axis, _)| *axis == iter.axis) {
                            Some((_, sum)) => *sum += digit * iter.stride,
                            None => copy.push((iter.axis, digit * iter.stride)),
                        }
                        copy
                    })
                })
                .collect();
        }
        all
    }

    /// The layout within one thread, without digits, copies and offsets along axes of threads.
    ///
    /// ```
    /// use kernel_layout::tile::TileLayout;
    /// let layout: TileLayout = "S[(8, 2, 4, 2) : (4 @ laneid, 1 @ warpid, 1 @ laneid, 1)]".parse()?;
    /// assert_eq!(layout.storage().to_string(), "S[2 : 1]");
    /// # Ok::<(), kernel_layout::tile::NotationError>(())
    /// ```
    #[must_use]
    pub fn storage(&self) -> TileLayout {
        let of_memory = |iters: &[Iter]| {
            iters.iter().copied().filter(|iter| !iter.axis.is_thread()).collect::<Vec<_>>()
        };
        let offset = self.offset.iter().filter(|(axis, _)| !axis.is_thread());
        TileLayout {
            shard: of_memory(&self.shard),
            replica: of_memory(&self.replica),
            offset: offset.map(|(&axis, &amount)| (axis, amount)).collect(),
        }
    }

    /// The same elements in units `count` times as small: each becomes `count` places of memory.
    ///
    /// ```
    /// use kernel_layout::tile::TileLayout;
    /// let layout: TileLayout = "S[(8, 4) : (4 @ laneid, 1)]".parse()?;
    /// assert_eq!(layout.unpack(2)?.to_string(), "S[(8, 4, 2) : (4 @ laneid, 2, 1)]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`TileLayout::new`].
    ///
    /// # Ensures
    /// [`TileLayout::pack`] with the same count undoes it (`law_pack_undoes_unpack`).
    pub fn unpack(&self, count: u64) -> Result<TileLayout, TileError> {
        if count == 0 {
            return Err(TileError::Zero { what: "a count" });
        }
        let factor = |axis: TileAxis| {
            if axis.is_thread() { 1 } else { i64::try_from(count).unwrap_or(LIMIT) }
        };
        let scaled = |iters: &[Iter]| -> Vec<Iter> {
            let scale = |iter: &Iter| Iter {
                stride: iter.stride.saturating_mul(factor(iter.axis)),
                ..*iter
            };
            iters.iter().map(scale).collect()
        };
        let mut shard = scaled(&self.shard);
        shard.push(Iter::new(count, 1, TileAxis::Memory));
        let offset = self.offset.iter().map(|(&axis, &at)| (axis, at.saturating_mul(factor(axis))));
        TileLayout::new(shard, scaled(&self.replica), offset)
    }

    /// The same places in units `count` times as large: `count` consecutive elements become one.
    ///
    /// # Errors
    /// When the last digit is not of memory with stride 1 and an extent that is a multiple of `count`, or another stride
    /// along memory, or the offset, is not a multiple of it.
    pub fn pack(&self, count: u64) -> Result<TileLayout, TileError> {
        if count == 0 {
            return Err(TileError::Zero { what: "a count" });
        }
        let refused = |actual: String| TileError::Pack { count, actual };
        let Some((last, outer)) = self.shard.split_last() else {
            return Err(refused("missing".to_owned()));
        };
        let whole = last.stride == 1 && !last.axis.is_thread() && last.extent.is_multiple_of(count);
        if !whole {
            return Err(refused(format!("{} : {} @ {}", last.extent, last.stride, last.axis)));
        }
        let divisor = i64::try_from(count).unwrap_or(LIMIT);
        let divided = |amount: i64, axis: TileAxis| {
            if axis.is_thread() {
                Ok(amount)
            } else if amount % divisor == 0 {
                Ok(amount / divisor)
            } else {
                Err(refused(format!("{amount} @ {axis}")))
            }
        };
        let scaled = |iters: &[Iter]| -> Result<Vec<Iter>, TileError> {
            let scale =
                |iter: &Iter| Ok(Iter { stride: divided(iter.stride, iter.axis)?, ..*iter });
            iters.iter().map(scale).collect()
        };
        let mut shard = scaled(outer)?;
        if last.extent > count {
            shard.push(Iter { extent: last.extent / count, ..*last });
        }
        let mut offset = Vec::new();
        for (&axis, &amount) in &self.offset {
            offset.push((axis, divided(amount, axis)?));
        }
        TileLayout::new(shard, scaled(&self.replica)?, offset)
    }

    /// The digits in another order: digit `i` of the result is digit `order[i]`.
    ///
    /// ```
    /// use kernel_layout::tile::TileLayout;
    /// let rows: TileLayout = "S[(3, 4) : (4, 1)]".parse()?;
    /// assert_eq!(rows.permute_dims(&[1, 0])?.to_string(), "S[(4, 3) : (1, 4)]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the order does not name every digit once.
    pub fn permute_dims(&self, order: &[usize]) -> Result<TileLayout, TileError> {
        let separators: Vec<usize> = (0..=self.shard.len()).collect();
        self.permute_by_groups(&separators, order)
    }

    /// The groups of digits between `separators` in another order; see [`TileLayout::group`].
    ///
    /// # Errors
    /// When the separators do not ascend from 0 to the number of digits, or the order does not name every group once.
    pub fn permute_by_groups(
        &self,
        separators: &[usize],
        order: &[usize],
    ) -> Result<TileLayout, TileError> {
        let ends = (separators.first(), separators.last());
        if ends != (Some(&0), Some(&self.shard.len())) || !separators.is_sorted() {
            return Err(TileError::Order { actual: separators.to_vec() });
        }
        let mut seen = order.to_vec();
        seen.sort_unstable();
        if !seen.into_iter().eq(0..separators.len() - 1) {
            return Err(TileError::Order { actual: order.to_vec() });
        }
        let group = |&at: &usize| &self.shard[separators[at]..separators[at + 1]];
        let shard = order.iter().flat_map(group).copied().collect();
        Ok(TileLayout { shard, ..self.clone() })
    }

    /// The same layout moved along axes.
    ///
    /// # Errors
    /// When an offset exceeds 2³⁰.
    pub fn moved(
        &self,
        by: impl IntoIterator<Item = (TileAxis, i64)>,
    ) -> Result<TileLayout, TileError> {
        let own = self.offset.clone().into_iter();
        TileLayout::new(self.shard.clone(), self.replica.clone(), own.chain(by))
    }
}
