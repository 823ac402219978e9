//! Tile layouts as linear layouts, and the other way round.
//!
//! A tile layout adds where a linear layout XORs. The two agree when no addition carries: when the bits of the index,
//! each taken alone, lead to places that have no bit in common. A linear layout gives every place an element, so there
//! may be no gap between the first place and the last.

use super::{ComposeLayout, Iter, Reading, Scopes, Swizzle, TileAxis, TileError, TileLayout};
use crate::layout::{Basis, log2};
use crate::{Dim, Layout};

/// How axes become dimensions.
enum Place {
    /// A dimension that counts single places.
    Plain(Dim),
    /// Lane and warp, counted in a number of threads.
    Threads(i64),
}

fn dimension(axis: TileAxis, threads: bool) -> Result<Place, TileError> {
    Ok(match axis {
        TileAxis::Memory => Place::Plain(if threads { Dim::Register } else { Dim::Offset }),
        TileAxis::TLane => Place::Plain(Dim::Row),
        TileAxis::TCol => Place::Plain(Dim::Col),
        TileAxis::ClusterBlockX => Place::Plain(Dim::Block),
        TileAxis::LaneId
        | TileAxis::WarpInWarpgroup
        | TileAxis::ThreadInWarpgroup
        | TileAxis::WarpgroupId
        | TileAxis::WarpId
        | TileAxis::Thread => {
            Place::Threads(axis.threads().expect("these axes count threads of a block"))
        }
        TileAxis::Partition
        | TileAxis::Free
        | TileAxis::Bank
        | TileAxis::ClusterBlockY
        | TileAxis::ClusterBlockZ
        | TileAxis::BlockX
        | TileAxis::BlockY
        | TileAxis::BlockZ => return Err(TileError::NoDimension { axis }),
    })
}

/// What leads to one bit of a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Nothing: the place with this bit holds nothing.
    Nothing,
    /// A copy of the element at the place without this bit.
    Copy,
    /// A bit of the row-major index.
    Index(usize),
}

/// The bits that places are made of, for each dimension, lowest first.
#[derive(Default)]
struct Bits {
    dims: Vec<(Dim, Vec<Source>)>,
}

impl Bits {
    /// Records what leads to place `value` along `dim`.
    fn add(
        &mut self,
        axis: TileAxis,
        dim: Dim,
        value: i64,
        source: Source,
    ) -> Result<(), TileError> {
        let refused = |reason| Err(TileError::NotLinear { axis, reason });
        let Ok(value) = u64::try_from(value) else { return refused("a stride is negative") };
        if !value.is_power_of_two() {
            return refused("a stride is no power of two");
        }
        let known = self.dims.iter().position(|(other, _)| *other == dim);
        let place = known.unwrap_or_else(|| {
            self.dims.push((dim, Vec::new()));
            self.dims.len() - 1
        });
        let bit = value.ilog2() as usize;
        if bit > 30 {
            return Err(TileError::TooLarge { what: "a place" });
        }
        let bits = &mut self.dims[place].1;
        bits.resize(bits.len().max(bit + 1), Source::Nothing);
        if std::mem::replace(&mut bits[bit], source) != Source::Nothing {
            return refused("two digits share a bit of the place");
        }
        Ok(())
    }
}

impl TileLayout {
    /// The linear layout of a tensor of `shape` that means the same: from places to elements.
    ///
    /// `m` becomes `Offset`, or `Register` beside axes of threads; those become `Lane` and `Warp`; `TLane` and `TCol`
    /// become `Row` and `Col`; `cbx` becomes `Block`. Copies become zero bases.
    ///
    /// ```
    /// use kernel_layout::tile::TileLayout;
    /// let layout: TileLayout = "S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)]".parse()?;
    /// assert_eq!(
    ///     layout.to_linear(&[8, 8])?.to_string(),
    ///     "register [0,1], lane [0,2] [0,4] [1,0] [2,0] [4,0], warp -> [8, 8]",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the shape has another number of elements or a size that is not a power of two; when there is an offset, an
    /// extent or stride that is not a power of two, or two digits that share a bit; when places in between hold
    /// nothing; when lanes exceed a warp; when an axis has no dimension.
    ///
    /// # Ensures
    /// The tile layout puts each element at the place that holds it (`law_linear_and_tile_agree`).
    pub fn to_linear(&self, shape: &[u32]) -> Result<Layout, TileError> {
        let short = self.canonicalize(Scopes::Kept);
        let sizes: Vec<u64> = shape.iter().map(|&size| size.into()).collect();
        let refused = || TileError::Group {
            layout: self.to_string(),
            size: self.size(),
            shape: sizes.clone(),
        };
        if sizes.iter().try_fold(1_u64, |a, &b| a.checked_mul(b)) != Some(self.size()) {
            return Err(refused());
        }
        if let Some(axis) = shape.iter().position(|size| !size.is_power_of_two()) {
            return Err(TileError::NotPowerOfTwo { axis, actual: shape[axis] });
        }
        if let Some(&axis) = short.offset().keys().next() {
            return Err(TileError::NotLinear { axis, reason: "an offset moves every place" });
        }
        let axes = short.axes();
        let threads = axes.iter().any(|axis| axis.is_thread());
        if let (Err(_), Some(&axis)) = (short.scope(), axes.last()) {
            return Err(TileError::NotLinear {
                axis,
                reason: "the axes of threads make up no chain",
            });
        }
        let bits = short.place_bits(threads)?;
        let mut order = Vec::new();
        if threads {
            order.extend([Dim::Register, Dim::Lane, Dim::Warp]);
        }
        for dim in [Dim::Offset, Dim::Row, Dim::Col, Dim::Block] {
            if bits.dims.iter().any(|(other, _)| *other == dim) {
                order.push(dim);
            }
        }
        let outs: Vec<(Dim, u32)> =
            Dim::axes(shape.len()).into_iter().zip(shape.iter().copied()).collect();
        let target = Layout::new(Vec::new(), outs.clone())
            .map_err(|_| TileError::TooLarge { what: "the tensor" })?;
        let mut ins: Vec<(Dim, Vec<Basis>)> = Vec::new();
        for dim in order {
            let found = bits.dims.iter().find(|(other, _)| *other == dim);
            let mut bases = Vec::new();
            for bit in found.map_or(&[][..], |(_, bits)| bits) {
                let index = match bit {
                    Source::Nothing => return Err(TileError::Hole),
                    Source::Copy => 0,
                    Source::Index(index) => 1 << index,
                };
                bases.push(target.unflatten_out(index));
            }
            ins.push((dim, bases));
        }
        Layout::new(ins, outs).map_err(|_| TileError::TooLarge { what: "the tensor" })
    }

    /// Which bit of the index leads to which bit of which place.
    fn place_bits(&self, threads: bool) -> Result<Bits, TileError> {
        let mut bits = Bits::default();
        let mut add = |iter: &Iter, bit: u32, source: Source| -> Result<(), TileError> {
            let value = iter.stride.saturating_mul(1 << bit);
            if value == 0 {
                // A copy at the same place is the element itself.
                return match source {
                    Source::Nothing | Source::Copy => Ok(()),
                    Source::Index(_) => {
                        let reason = "two elements share a place";
                        Err(TileError::NotLinear { axis: iter.axis, reason })
                    }
                };
            }
            match dimension(iter.axis, threads)? {
                Place::Plain(dim) => bits.add(iter.axis, dim, value, source),
                Place::Threads(_) if iter.axis == TileAxis::LaneId && value > 31 => {
                    Err(TileError::NotLinear { axis: iter.axis, reason: "a warp has 32 lanes" })
                }
                Place::Threads(unit) => {
                    let thread = value.saturating_mul(unit);
                    if thread < 32 {
                        bits.add(iter.axis, Dim::Lane, thread, source)
                    } else if thread % 32 == 0 {
                        bits.add(iter.axis, Dim::Warp, thread / 32, source)
                    } else {
                        Err(TileError::NotLinear {
                            axis: iter.axis,
                            reason: "a stride is no power of two",
                        })
                    }
                }
            }
        };
        let mut low = 0;
        for iter in self.shard().iter().rev() {
            // The extents multiply to a power of two, so each is one.
            let own = iter.extent.ilog2();
            for bit in 0..own {
                add(iter, bit, Source::Index(low + bit as usize))?;
            }
            low += own as usize;
        }
        for iter in self.replica() {
            if !iter.extent.is_power_of_two() {
                let reason = "the number of copies is no power of two";
                return Err(TileError::NotLinear { axis: iter.axis, reason });
            }
            for bit in 0..iter.extent.ilog2() {
                add(iter, bit, Source::Copy)?;
            }
        }
        Ok(bits)
    }

    /// The tile layout that means the same as a linear layout of a tensor: from the row-major index to places.
    ///
    /// `Register` and `Offset` become `m`, `Lane` and `Warp` `laneid` and `warpid`, `Row` and `Col` `TLane` and `TCol`, `Block`
    /// `cbx`. Zero bases become copies.
    ///
    /// ```
    /// use kernel_layout::forms::mma_v2_accumulator;
    /// use kernel_layout::tile::TileLayout;
    /// let fragment = mma_v2_accumulator([1, 1], &[16, 8])?;
    /// assert_eq!(
    ///     TileLayout::from_linear(&fragment)?.to_string(),
    ///     "S[(2, 32, 2) : (2, 1 @ laneid, 1)]",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a basis has more than one bit (a swizzle: see [`ComposeLayout::from_linear`]), two lead to the same
    /// element, or some element is held nowhere; when an output is not an axis of a tensor.
    pub fn from_linear(layout: &Layout) -> Result<TileLayout, TileError> {
        let refused = |reason| Err(TileError::NotTile { reason });
        if layout.tensor_rank() != layout.outs().len() {
            return refused("the layout does not lead to the axes of a tensor");
        }
        let axes = Dim::axes(layout.outs().len());
        let layout = layout.transpose_outs(&axes);
        let mut digits: Vec<Option<Iter>> = vec![None; layout.out_bits()];
        let mut replica = Vec::new();
        for (dim, bases) in layout.ins() {
            let axis = match dim {
                Dim::Register | Dim::Offset => TileAxis::Memory,
                Dim::Lane => TileAxis::LaneId,
                Dim::Warp => TileAxis::WarpId,
                Dim::Block => TileAxis::ClusterBlockX,
                Dim::Row => TileAxis::TLane,
                Dim::Col => TileAxis::TCol,
                Dim::Axis(_) => return refused("an input is an axis of a tensor"),
            };
            for (bit, basis) in bases.iter().enumerate() {
                let digit = Iter::new(2, 1 << bit, axis);
                let index = layout.flatten_out(basis);
                if index == 0 {
                    replica.push(digit);
                } else if !index.is_power_of_two() {
                    return refused(
                        "one bit of a place changes several bits of the element: a swizzle",
                    );
                } else if digits[index.ilog2() as usize].replace(digit).is_some() {
                    return refused("two bits of a place lead to the same element");
                }
            }
        }
        let Some(shard) = digits.into_iter().rev().collect::<Option<Vec<Iter>>>() else {
            return refused("some element is held nowhere");
        };
        Ok(TileLayout::new(shard, replica, [])?.canonicalize(Scopes::Kept))
    }
}

impl ComposeLayout {
    /// The linear layout of a tensor of `shape` that means the same.
    ///
    /// ```
    /// use kernel_layout::forms::nvmma_shared;
    /// use kernel_layout::tile::{SwizzleMode, mma_shared};
    /// let tile = mma_shared(16, SwizzleMode::B128, &[64, 128])?;
    /// assert_eq!(tile.to_linear(&[64, 128])?, nvmma_shared(128, 16, false, false, &[64, 128])?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`TileLayout::to_linear`]; when the swizzle leads out of the tile.
    pub fn to_linear(&self, shape: &[u32]) -> Result<Layout, TileError> {
        let tile = self.tile().to_linear(shape)?;
        let size = tile.in_size(Dim::Offset);
        let exchanged: Option<Vec<Basis>> = (0..log2(size))
            .map(|bit| {
                let place = u32::try_from(self.swizzle().apply(1 << bit)).ok()?;
                (place < size).then(|| vec![place])
            })
            .collect();
        let bases = exchanged.ok_or(TileError::Hole)?;
        let exchange = Layout::new(vec![(Dim::Offset, bases)], vec![(Dim::Offset, size)])
            .map_err(|_| TileError::TooLarge { what: "the tile" })?;
        Ok(if tile.has_in(Dim::Offset) { exchange.compose(&tile) } else { tile })
    }

    /// The swizzled tile that means the same as a linear layout of shared memory.
    ///
    /// ```
    /// use kernel_layout::forms::nvmma_shared;
    /// use kernel_layout::tile::ComposeLayout;
    /// let shared = nvmma_shared(128, 16, false, false, &[64, 256])?;
    /// assert_eq!(
    ///     ComposeLayout::from_linear(&shared)?.to_string(),
    ///     "Compose(3, 3, 3, S[(64, 4, 64) : (64, 4096, 1)])",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`TileLayout::from_linear`]; when no swizzle turns it into a tile.
    pub fn from_linear(layout: &Layout) -> Result<ComposeLayout, TileError> {
        if !layout.in_dims().eq([Dim::Offset]) {
            return Err(TileError::NotTile { reason: "the layout is not one of shared memory" });
        }
        let size = layout.in_size(Dim::Offset);
        let bits = u32::try_from(log2(size)).expect("a layout has at most 64 bits");
        let mut refused = None;
        for swizzle_len in 0..=5 {
            for (per_element, atom_len) in (0..8).flat_map(|low| (0..=8).map(move |up| (low, up))) {
                let fits = atom_len >= swizzle_len && per_element + atom_len + swizzle_len <= bits;
                if !fits && swizzle_len > 0 {
                    continue;
                }
                let swizzle = Swizzle::new(per_element, swizzle_len, atom_len, Reading::Inner)?;
                let bases = (0..bits).map(|bit| {
                    vec![u32::try_from(swizzle.apply(1 << bit)).expect("it stays within the bits")]
                });
                let exchange = Layout::trusted(
                    vec![(Dim::Offset, bases.collect())],
                    vec![(Dim::Offset, size)],
                );
                match TileLayout::from_linear(&exchange.compose(layout)) {
                    Ok(tile) => return ComposeLayout::new(swizzle, tile),
                    Err(error) => refused = refused.or(Some(error)),
                }
                if swizzle_len == 0 {
                    break;
                }
            }
        }
        Err(refused.unwrap_or(TileError::NotTile { reason: "no swizzle makes a tile of it" }))
    }
}
