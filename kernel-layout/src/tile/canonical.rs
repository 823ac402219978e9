//! The canonical form: fewest digits, copies in order, and optionally the widest axes of threads.

use super::{Iter, TileAxis, TileLayout};

/// The axes of threads in the canonical form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scopes {
    /// Lane and warp stay lane and warp.
    Kept,
    /// All are written along one axis: lane and warp as threads of the block, so that digits along both can be joined.
    Fused,
}

impl TileLayout {
    /// The layout with the fewest digits that means the same.
    ///
    /// In this order: digits of one value are left out (if there are not others, one stays); offsets of zero are left
    /// out; with [`Scopes::Fused`], axes of threads become one; neighbouring digits that step evenly are joined,
    /// `(8, 4) : (4, 1)` to `32 : 1`; copies are sorted and joined likewise.
    ///
    /// ```
    /// use kernel_layout::tile::{Scopes, TileLayout};
    /// let layout: TileLayout = "S[(2, 2, 8, 4) : (2 @ warpid, 1 @ warpid, 4 @ laneid, 1 @ laneid)]".parse()?;
    /// assert_eq!(layout.canonicalize(Scopes::Kept).to_string(), "S[(4, 32) : (1 @ warpid, 1 @ laneid)]");
    /// assert_eq!(layout.canonicalize(Scopes::Fused).to_string(), "S[128 : 1 @ tx]");
    /// # Ok::<(), kernel_layout::tile::NotationError>(())
    /// ```
    ///
    /// # Ensures
    /// Every element keeps its place, copies included (`law_canonical_form_keeps_every_place`); doing it again changes
    /// nothing.
    #[must_use]
    pub fn canonicalize(&self, scopes: Scopes) -> TileLayout {
        let fused = match scopes {
            Scopes::Kept => self.clone(),
            Scopes::Fused => self.fuse_scopes(),
        };
        let shard = joined(fused.shard());
        let mut replica: Vec<Iter> =
            fused.replica().iter().copied().filter(|iter| iter.extent > 1).collect();
        replica
            .sort_unstable_by_key(|iter| (iter.axis, std::cmp::Reverse(iter.stride), iter.extent));
        let replica = join(replica);
        let offset = fused.offset().iter().filter(|(_, amount)| **amount != 0);
        let offset: Vec<(TileAxis, i64)> = offset.map(|(&axis, &at)| (axis, at)).collect();
        TileLayout::new(shard, replica, offset).expect("joining digits multiplies no extents anew")
    }

    /// Whether the index is the place in memory: no copies, no offset, stride 1.
    ///
    /// ```
    /// use kernel_layout::tile::TileLayout;
    /// let rows: TileLayout = "S[(8, 8) : (8, 1)]".parse()?;
    /// assert!(rows.is_trivial());
    /// # Ok::<(), kernel_layout::tile::NotationError>(())
    /// ```
    pub fn is_trivial(&self) -> bool {
        let short = self.canonicalize(Scopes::Kept);
        let plain = short
            .shard()
            .iter()
            .all(|iter| (iter.stride == 1 || iter.extent == 1) && !iter.axis.is_thread());
        short.shard().len() <= 1 && plain && short.replica().is_empty() && short.offset().is_empty()
    }

    /// Every axis of threads, written along the widest axis that fits all of them.
    ///
    /// A layout whose axes do not make up a chain, or whose chain no axis spans, is left as it is.
    fn fuse_scopes(&self) -> TileLayout {
        let Ok(Some((of, within))) = self.scope() else { return self.clone() };
        let Some(target) = TileAxis::counting(of, within) else { return self.clone() };
        let Some(unit) = target.threads() else { return self.clone() };
        let fuse = |axis: TileAxis, amount: i64| match axis.threads() {
            Some(threads) => (target, amount.saturating_mul(threads / unit)),
            None => (axis, amount),
        };
        let along = |iters: &[Iter]| -> Vec<Iter> {
            let fused = |iter: &Iter| {
                let (axis, stride) = fuse(iter.axis, iter.stride);
                Iter { stride, axis, ..*iter }
            };
            iters.iter().map(fused).collect()
        };
        let offset = self.offset().iter().map(|(&axis, &amount)| fuse(axis, amount));
        TileLayout::new(along(self.shard()), along(self.replica()), offset)
            .unwrap_or_else(|_| self.clone())
    }
}

/// Digits without those of one value, neighbours joined; the first stays if all are of one value.
pub(super) fn joined(iters: &[Iter]) -> Vec<Iter> {
    let kept: Vec<Iter> = iters.iter().copied().filter(|iter| iter.extent > 1).collect();
    match (kept.is_empty(), iters.first()) {
        (true, Some(first)) => vec![Iter::new(1, 1, first.axis)],
        (true, None) | (false, _) => join(kept),
    }
}

fn join(iters: Vec<Iter>) -> Vec<Iter> {
    let mut short: Vec<Iter> = Vec::with_capacity(iters.len());
    for iter in iters {
        match short.last_mut() {
            Some(outer)
                if outer.axis == iter.axis
                    && iter.extent.cast_signed() * iter.stride == outer.stride =>
            {
                outer.extent *= iter.extent;
                outer.stride = iter.stride;
            }
            Some(_) | None => short.push(iter),
        }
    }
    short
}

/// How to split `axis` so that `finer` becomes its own axis: the axis beyond it, and how much of `axis` is within it.
/// `None` for an axis that does not count what `finer` counts, or counts it within no more.
fn cut(axis: TileAxis, finer: TileAxis) -> Option<(TileAxis, i64)> {
    let ((of, within), (inner_of, inner_within)) = (axis.scopes()?, finer.scopes()?);
    if of != inner_of || within <= inner_within {
        return None;
    }
    let beyond = TileAxis::counting(inner_within, within)?;
    Some((beyond, beyond.threads()? / finer.threads()?))
}

/// Whether `finer` counts a part of what `axis` counts.
pub(super) fn is_finer(finer: TileAxis, axis: TileAxis) -> bool {
    cut(axis, finer).is_some()
}

/// The digits with every wider axis split at `finer`: for `laneid`, `tx` into warp and lane.
///
/// `None` where a digit is across the boundary.
pub(super) fn split_scopes(iters: &[Iter], finer: TileAxis) -> Option<Vec<Iter>> {
    let mut split = Vec::new();
    for iter in iters {
        let Some((beyond, inner_size)) = cut(iter.axis, finer) else {
            split.push(*iter);
            continue;
        };
        let (extent, stride) = (iter.extent.cast_signed(), iter.stride);
        if stride <= 0 {
            return None;
        }
        if extent * stride <= inner_size {
            split.push(Iter { axis: finer, ..*iter });
        } else if inner_size % stride == 0 && (extent * stride) % inner_size == 0 {
            let inner = (inner_size / stride).cast_unsigned();
            split.push(Iter::new(iter.extent / inner, 1, beyond));
            split.push(Iter::new(inner, stride, finer));
        } else if stride % inner_size == 0 {
            split.push(Iter::new(iter.extent, stride / inner_size, beyond));
        } else {
            return None;
        }
    }
    Some(split)
}

/// An amount along an axis, split along the axes from [`split_scopes`].
pub(super) fn split_amount(axis: TileAxis, amount: i64, finer: TileAxis) -> Vec<(TileAxis, i64)> {
    match cut(axis, finer) {
        Some((beyond, inner_size)) => {
            vec![(beyond, amount.div_euclid(inner_size)), (finer, amount.rem_euclid(inner_size))]
        }
        None => vec![(axis, amount)],
    }
}
