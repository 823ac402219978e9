//! Tiles of tiles: nesting layouts, and recognising nested ones.

use super::canonical::{is_finer, joined, split_amount, split_scopes};
use super::{Iter, Scopes, TileAxis, TileError, TileLayout};

/// How far apart the copies of the inner layout are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spacing {
    /// The outer strides count whole inner layouts.
    Spans,
    /// The outer strides count places.
    Places,
}

impl TileLayout {
    /// This layout, of `inner_shape`, repeated by `outer`, of `outer_shape`: a tensor whose axis `d` has
    /// `outer_shape[d] · inner_shape[d]` elements.
    ///
    /// Strides and copies of `outer` count this layout's [`TileLayout::span`] on their axis; copies and offsets of both
    /// are joined. The result is canonical.
    ///
    /// ```
    /// use kernel_layout::tile::TileLayout;
    /// let rows: TileLayout = "S[(8, 8) : (8, 1)]".parse()?;
    /// // 8×8 tiles of 8×8 elements: the next tile is 64 elements away, the next row of tiles 512.
    /// let tiled = rows.tile(&rows, &[8, 8], &[8, 8])?;
    /// assert_eq!(tiled.to_string(), "S[(8, 8, 8, 8) : (512, 8, 64, 1)]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a layout cannot be grouped by its shape, the shapes differ in rank, or the result exceeds 2³⁰ places.
    ///
    /// # Ensures
    /// The element at `o·inner_shape + i` is at `inner(i) + span·outer(o)` (`law_a_tile_of_tiles_places_each`).
    pub fn tile(
        &self,
        outer: &TileLayout,
        outer_shape: &[u64],
        inner_shape: &[u64],
    ) -> Result<TileLayout, TileError> {
        self.within(outer, outer_shape, inner_shape, Spacing::Spans)
    }

    /// [`TileLayout::tile`] with the tiles in row-major order, up to a tensor of `to`.
    ///
    /// # Errors
    /// As [`TileLayout::tile`]; when `to` is not a multiple of `shape`.
    pub fn tile_to(&self, to: &[u64], shape: &[u64]) -> Result<TileLayout, TileError> {
        let counts = quotient(to, shape)?;
        self.tile(&TileLayout::row_major(&counts)?, &counts, shape)
    }

    /// This layout, of `inner_shape`, beside `outer`, of `outer_shape`: as [`TileLayout::tile`], but the strides of
    /// `outer` count places as they are.
    ///
    /// ```
    /// use kernel_layout::tile::TileLayout;
    /// let inner: TileLayout = "S[(2, 2) : (4, 1)]".parse()?;
    /// let outer: TileLayout = "S[(2, 2) : (8, 2)]".parse()?;
    /// assert_eq!(inner.direct_sum(&outer, &[2, 2], &[2, 2])?.to_string(), "S[16 : 1]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`TileLayout::tile`].
    ///
    /// # Ensures
    /// The element at `o·inner_shape + i` is at `inner(i) + outer(o)` (`law_a_direct_sum_adds_places`).
    pub fn direct_sum(
        &self,
        outer: &TileLayout,
        outer_shape: &[u64],
        inner_shape: &[u64],
    ) -> Result<TileLayout, TileError> {
        self.within(outer, outer_shape, inner_shape, Spacing::Places)
    }

    fn within(
        &self,
        outer: &TileLayout,
        outer_shape: &[u64],
        inner_shape: &[u64],
        spacing: Spacing,
    ) -> Result<TileLayout, TileError> {
        if outer_shape.len() != inner_shape.len() {
            let (actual, required) = (outer_shape.len(), inner_shape.len());
            return Err(TileError::Rank { what: "axes of the outer shape", actual, required });
        }
        let inner = self.canonicalize(Scopes::Kept);
        let outer = outer.canonicalize(Scopes::Kept);
        let scale = |iter: &Iter| Iter {
            stride: iter.stride.saturating_mul(inner.spacing(iter.axis, spacing)),
            ..*iter
        };
        let (inner_groups, outer_groups) = (inner.group(inner_shape)?, outer.group(outer_shape)?);
        let mut shard: Vec<Iter> = Vec::new();
        for axis in 0..inner_shape.len() {
            shard.extend(outer_groups.group(axis).iter().map(scale));
            shard.extend(inner_groups.group(axis));
        }
        let replica =
            inner.replica().iter().copied().chain(outer.replica().iter().map(scale)).collect();
        let offset = inner.offset().iter().chain(outer.offset()).map(|(&axis, &at)| (axis, at));
        Ok(TileLayout::new(shard, replica, offset)?.canonicalize(Scopes::Kept))
    }

    /// What a stride of an outer layout along `axis` counts.
    fn spacing(&self, axis: TileAxis, spacing: Spacing) -> i64 {
        match spacing {
            Spacing::Spans => self.span(axis),
            Spacing::Places => 1,
        }
    }

    /// The outer layout that gives `tiled`, of `tiled_shape`, with this layout, of `inner_shape`, as its tile; `None`
    /// if there is none.
    ///
    /// ```
    /// use kernel_layout::tile::TileLayout;
    /// let atom: TileLayout = "S[(8, 64) : (64, 1)]".parse()?;
    /// let tiled: TileLayout = "S[(64, 4, 64) : (64, 4096, 1)]".parse()?;
    /// let outer = atom.is_tile_inner(&tiled, &[64, 256], &[8, 64]).expect("made of atoms");
    /// assert_eq!(outer.to_string(), "S[(8, 4) : (1, 8)]");
    /// # Ok::<(), kernel_layout::tile::NotationError>(())
    /// ```
    ///
    /// If `tiled` counts threads of the block and the tile counts lanes of a warp, threads are split first.
    ///
    /// # Ensures
    /// [`TileLayout::tile`] with the result gives `tiled` (`law_recognisers_undo_tiling`).
    pub fn is_tile_inner(
        &self,
        tiled: &TileLayout,
        tiled_shape: &[u64],
        inner_shape: &[u64],
    ) -> Option<TileLayout> {
        self.outer_of(tiled, tiled_shape, inner_shape, Spacing::Spans)
    }

    /// The tile that gives `tiled`, of `tiled_shape`, when this layout, of `outer_shape`, repeats it; `None` if there
    /// is none.
    ///
    /// ```
    /// use kernel_layout::tile::TileLayout;
    /// let outer: TileLayout = "S[(8, 8) : (8, 1)]".parse()?;
    /// let tiled: TileLayout = "S[(8, 2, 32) : (64, 1, 2)]".parse()?;
    /// let tile = outer.is_tile_outer(&tiled, &[16, 32], &[8, 8]).expect("repeated so");
    /// assert_eq!(tile.to_string(), "S[(2, 4) : (1, 2)]");
    /// # Ok::<(), kernel_layout::tile::NotationError>(())
    /// ```
    pub fn is_tile_outer(
        &self,
        tiled: &TileLayout,
        tiled_shape: &[u64],
        outer_shape: &[u64],
    ) -> Option<TileLayout> {
        self.inner_of(tiled, tiled_shape, outer_shape, Spacing::Spans)
    }

    /// The outer layout that [`TileLayout::direct_sum`] joined with this one, of `inner_shape`, into `sum`.
    ///
    /// # Ensures
    /// The direct sum with the result gives `sum` (`law_recognisers_undo_tiling`).
    pub fn is_direct_sum_right(
        &self,
        sum: &TileLayout,
        sum_shape: &[u64],
        inner_shape: &[u64],
    ) -> Option<TileLayout> {
        self.outer_of(sum, sum_shape, inner_shape, Spacing::Places)
    }

    /// The inner layout that [`TileLayout::direct_sum`] joined with this one, of `outer_shape`, into `sum`.
    pub fn is_direct_sum_left(
        &self,
        sum: &TileLayout,
        sum_shape: &[u64],
        outer_shape: &[u64],
    ) -> Option<TileLayout> {
        self.inner_of(sum, sum_shape, outer_shape, Spacing::Places)
    }

    fn outer_of(
        &self,
        tiled: &TileLayout,
        tiled_shape: &[u64],
        inner_shape: &[u64],
        spacing: Spacing,
    ) -> Option<TileLayout> {
        let inner = self.canonicalize(Scopes::Kept);
        let tiled = tiled.split_to(&inner)?.canonicalize(Scopes::Kept);
        let counts = quotient(tiled_shape, inner_shape).ok()?;
        let cut = tiled.group(&interleaved(&counts, inner_shape)).ok()?;
        let own = inner.group(inner_shape).ok()?;
        let mut shard = Vec::new();
        for axis in 0..inner_shape.len() {
            if !same_digits(cut.group(2 * axis + 1), own.group(axis)) {
                return None;
            }
            for iter in cut.group(2 * axis) {
                shard.push(divided(iter, inner.spacing(iter.axis, spacing))?);
            }
        }
        let further = without(tiled.replica(), inner.replica())?;
        let replica = further
            .iter()
            .map(|iter| divided(iter, inner.spacing(iter.axis, spacing)))
            .collect::<Option<_>>()?;
        let outer = difference(&tiled, &inner, shard, replica)?;
        let again = inner.within(&outer, &counts, inner_shape, spacing).ok()?;
        (again == tiled).then_some(outer)
    }

    fn inner_of(
        &self,
        tiled: &TileLayout,
        tiled_shape: &[u64],
        outer_shape: &[u64],
        spacing: Spacing,
    ) -> Option<TileLayout> {
        let outer = self.canonicalize(Scopes::Kept);
        let tiled = tiled.canonicalize(Scopes::Kept);
        let sizes = quotient(tiled_shape, outer_shape).ok()?;
        let cut = tiled.group(&interleaved(outer_shape, &sizes)).ok()?;
        let shard: Vec<Iter> =
            (0..sizes.len()).flat_map(|axis| cut.group(2 * axis + 1)).copied().collect();
        // How far the copies of the outer layout are apart follows from the tile, whose copies they are among; so every
        // choice of them is tried, of which there are few.
        let copies = tiled.replica();
        (0..1_usize << copies.len().min(8)).find_map(|chosen| {
            let replica = copies.iter().enumerate();
            let replica = replica.filter(|(at, _)| chosen >> at & 1 == 1).map(|(_, iter)| *iter);
            let inner = difference(&tiled, &outer, shard.clone(), replica.collect())?;
            let again = inner.within(&outer, outer_shape, &sizes, spacing).ok()?;
            (again == tiled).then_some(inner)
        })
    }

    /// The layout with axes of threads split as far as `other` has them split.
    fn split_to(&self, other: &TileLayout) -> Option<TileLayout> {
        let axes = self.axes();
        let finer = |axis: &TileAxis| axes.iter().any(|&wider| is_finer(*axis, wider));
        let Some(target) = other.axes().into_iter().find(finer) else {
            return Some(self.clone());
        };
        let shard = split_scopes(self.shard(), target)?;
        let replica = split_scopes(self.replica(), target)?;
        let offset = self.offset().iter();
        let offset = offset.flat_map(|(&axis, &amount)| split_amount(axis, amount, target));
        // Each round leaves axes within fewer threads, so the rounds end.
        TileLayout::new(shard, replica, offset).ok()?.split_to(other)
    }
}

/// `sizes` divided by `parts`.
fn quotient(sizes: &[u64], parts: &[u64]) -> Result<Vec<u64>, TileError> {
    if sizes.len() != parts.len() {
        let (actual, required) = (sizes.len(), parts.len());
        return Err(TileError::Rank { what: "axes of the tiled shape", actual, required });
    }
    let divide = |(&size, &part): (&u64, &u64)| {
        let whole = part > 0 && size % part == 0;
        whole.then(|| size / part).ok_or_else(|| TileError::Group {
            layout: format!("of shape {sizes:?}"),
            // What does not divide is one size, not their product.
            size: parts.iter().fold(1, |all, &part| all.saturating_mul(part)),
            shape: parts.to_vec(),
        })
    };
    sizes.iter().zip(parts).map(divide).collect()
}

fn interleaved(outer: &[u64], inner: &[u64]) -> Vec<u64> {
    outer.iter().zip(inner).flat_map(|(&outer, &inner)| [outer, inner]).collect()
}

/// Whether two lists of digits mean the same.
fn same_digits(a: &[Iter], b: &[Iter]) -> bool {
    let digits = |iters: &[Iter]| -> Vec<Iter> {
        joined(iters).into_iter().filter(|iter| iter.extent > 1).collect()
    };
    digits(a) == digits(b)
}

fn divided(iter: &Iter, span: i64) -> Option<Iter> {
    if iter.extent == 1 {
        return Some(*iter);
    }
    (span != 0 && iter.stride % span == 0).then(|| Iter { stride: iter.stride / span, ..*iter })
}

/// `all` without `some`; `None` if `some` is not a part of it.
fn without(all: &[Iter], some: &[Iter]) -> Option<Vec<Iter>> {
    let mut rest = all.to_vec();
    for iter in some {
        let at = rest.iter().position(|other| other == iter)?;
        rest.remove(at);
    }
    Some(rest)
}

/// A layout of those digits and copies with the offset by which `whole` exceeds `part`.
fn difference(
    whole: &TileLayout,
    part: &TileLayout,
    shard: Vec<Iter>,
    replica: Vec<Iter>,
) -> Option<TileLayout> {
    let minus = part.offset().iter().map(|(&axis, &at)| (axis, -at));
    let offset = whole.offset().clone().into_iter().chain(minus);
    let layout = TileLayout::new(shard, replica, offset).ok()?;
    Some(layout.canonicalize(Scopes::Kept))
}
