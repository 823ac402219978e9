//! Swizzled tiles: bits of the place changed by higher ones.

use std::fmt;

use super::{TileAxis, TileError, TileLayout};

/// The direction of a swizzle.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reading {
    /// Higher bits change lower ones, as in hardware: the elements of a row are exchanged.
    Inner,
    /// Lower bits change higher ones: rows are exchanged. No hardware unit reads it.
    Outer,
}

/// An exchange of places: `swizzle_len` bits of a place are changed by those `atom_len` bits higher.
///
/// With `x` the place without its lowest `per_element` bits, `f(x) = x ^ ((x & mask << atom_len) >> atom_len)`, where
/// `mask` is `swizzle_len` ones.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Swizzle {
    low: u32,
    changed: u32,
    distance: u32,
    reading: Reading,
}

impl Swizzle {
    /// A swizzle that leaves the lowest `per_element` bits alone.
    ///
    /// ```
    /// use kernel_layout::tile::{Reading, Swizzle};
    /// // 8 rows of 8 chunks of 8 elements: row i has chunk j where i ^ j would be.
    /// let swizzle = Swizzle::new(3, 3, 3, Reading::Inner)?;
    /// assert_eq!(swizzle.apply((5 * 8 + 2) * 8 + 1), (5 * 8 + (5 ^ 2)) * 8 + 1);
    /// # Ok::<(), kernel_layout::tile::TileError>(())
    /// ```
    ///
    /// # Errors
    /// When the bits that change overlap those that change them, or there are more than 16 of any.
    pub fn new(
        per_element: u32,
        swizzle_len: u32,
        atom_len: u32,
        reading: Reading,
    ) -> Result<Swizzle, TileError> {
        if atom_len < swizzle_len || atom_len > 16 {
            return Err(TileError::Swizzle { swizzle_len, atom_len });
        }
        if per_element > 16 {
            return Err(TileError::Swizzle { swizzle_len: per_element, atom_len });
        }
        Ok(Swizzle { low: per_element, changed: swizzle_len, distance: atom_len, reading })
    }

    /// The swizzle of one of the hardware's modes for elements of `element_bits`: chunks of 16 bytes stay whole.
    ///
    /// # Errors
    /// When an element has other than 4, 8, 16, 32 or 64 bits.
    pub fn of_mode(mode: SwizzleMode, element_bits: u32) -> Result<Swizzle, TileError> {
        if ![4, 8, 16, 32, 64].contains(&element_bits) {
            let actual = element_bits.into();
            return Err(TileError::NotOneOf {
                what: "element bits",
                actual,
                allowed: &[4, 8, 16, 32, 64],
            });
        }
        let swizzle_len = (mode.bytes() / 16).checked_ilog2().unwrap_or(0);
        Swizzle::new((128 / element_bits).ilog2(), swizzle_len, 3, Reading::Inner)
    }

    /// The lowest bits, which stay.
    pub fn per_element(self) -> u32 {
        self.low
    }

    /// How many bits change.
    pub fn swizzle_len(self) -> u32 {
        self.changed
    }

    /// How much higher those bits are that change them.
    pub fn atom_len(self) -> u32 {
        self.distance
    }

    /// Its direction.
    pub fn reading(self) -> Reading {
        self.reading
    }

    /// Where the element that would be at `place` is. Doing it twice changes nothing.
    pub fn apply(self, place: u64) -> u64 {
        let mask = (1_u64 << self.changed) - 1;
        let low = self.low;
        match self.reading {
            Reading::Inner => place ^ (place >> self.distance & mask << low),
            Reading::Outer => place ^ (place & mask << low) << self.distance,
        }
    }

    /// The swizzle for elements that are smaller by a factor of `2^log2_count`.
    #[must_use]
    pub fn unpack(self, log2_count: u32) -> Swizzle {
        Swizzle { low: self.low + log2_count, ..self }
    }
}

/// A tile layout along memory whose places a swizzle exchanges.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ComposeLayout {
    swizzle: Swizzle,
    tile: TileLayout,
}

impl ComposeLayout {
    /// `tile`, then `swizzle`.
    ///
    /// # Errors
    /// When the tile steps along an axis other than memory.
    pub fn new(swizzle: Swizzle, tile: TileLayout) -> Result<ComposeLayout, TileError> {
        if let Some(&axis) = tile.axes().iter().find(|&&axis| axis != TileAxis::Memory) {
            return Err(TileError::NoDimension { axis });
        }
        Ok(ComposeLayout { swizzle, tile })
    }

    /// The exchange of places.
    pub fn swizzle(&self) -> Swizzle {
        self.swizzle
    }

    /// The places before.
    pub fn tile(&self) -> &TileLayout {
        &self.tile
    }

    /// Where the element at `coordinate` of a tensor of `shape` is.
    ///
    /// ```
    /// use kernel_layout::tile::ComposeLayout;
    /// let layout: ComposeLayout = "Compose(3, 3, 3, S[(8, 64) : (64, 1)])".parse()?;
    /// // Row 1, column 0 of a swizzle of 128 bytes: chunk 1 of the row, 8 elements of 16 bits further.
    /// assert_eq!(layout.apply(&[8, 64], &[1, 0])?, 72);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`TileLayout::apply`]; when the tile's place is before the origin.
    pub fn apply(&self, shape: &[u64], coordinate: &[u64]) -> Result<u64, TileError> {
        let places = self.tile.apply(shape, coordinate)?;
        let place = places.first().map_or(0, |&(_, at)| at);
        let place = u64::try_from(place).map_err(|_| TileError::NotLinear {
            axis: TileAxis::Memory,
            reason: "a place is negative",
        })?;
        Ok(self.swizzle.apply(place))
    }

    /// The window of the tile, swizzled as before: see [`TileLayout::slice`].
    ///
    /// # Errors
    /// As [`TileLayout::slice`].
    pub fn slice(&self, shape: &[u64], region: &[(u64, u64)]) -> Result<ComposeLayout, TileError> {
        ComposeLayout::new(self.swizzle, self.tile.slice(shape, region)?)
    }

    /// The same elements in units `count` times as small; see [`TileLayout::unpack`].
    ///
    /// # Errors
    /// As [`TileLayout::unpack`]; when `count` is not a power of two.
    pub fn unpack(&self, count: u64) -> Result<ComposeLayout, TileError> {
        if !count.is_power_of_two() {
            return Err(TileError::Pack { count, actual: self.tile.to_string() });
        }
        ComposeLayout::new(self.swizzle.unpack(count.ilog2()), self.tile.unpack(count)?)
    }

    /// The outer layout that gives `tiled` with this one as its tile; swizzles must be equal. See
    /// [`TileLayout::is_tile_inner`].
    pub fn is_tile_inner(
        &self,
        tiled: &ComposeLayout,
        tiled_shape: &[u64],
        inner_shape: &[u64],
    ) -> Option<TileLayout> {
        let outer = self.tile.is_tile_inner(&tiled.tile, tiled_shape, inner_shape);
        outer.filter(|_| self.swizzle == tiled.swizzle)
    }
}

impl fmt::Display for ComposeLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Swizzle { low, changed, distance, reading } = self.swizzle;
        let outer = match reading {
            Reading::Inner => "",
            Reading::Outer => ", outer",
        };
        write!(f, "Compose({low}, {changed}, {distance}, {}{outer})", self.tile)
    }
}

/// The swizzles of TMA and the tensor core.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SwizzleMode {
    /// No swizzle: chunks of 16 bytes, with adjacent rows of chunks.
    None,
    /// Over 32 bytes.
    B32,
    /// Over 64 bytes.
    B64,
    /// Over 128 bytes.
    B128,
}

impl SwizzleMode {
    /// The bytes of a row of an atom; 16 without a swizzle.
    pub fn bytes(self) -> u32 {
        match self {
            SwizzleMode::None => 16,
            SwizzleMode::B32 => 32,
            SwizzleMode::B64 => 64,
            SwizzleMode::B128 => 128,
        }
    }
}

/// The layout of shared memory that TMA writes and the tensor core reads, of a tensor whose last two axes are rows and
/// columns.
///
/// An atom has 8 rows of `mode.bytes()`; atoms follow one another along the rows first, then along the columns, then
/// along the leading axes. Without a swizzle, the chunks of 16 bytes follow one another along the rows, one column of
/// chunks after the other; if the columns are not whole chunks, rows follow one another.
///
/// ```
/// use kernel_layout::tile::{SwizzleMode, mma_shared};
/// assert_eq!(
///     mma_shared(16, SwizzleMode::B128, &[64, 256])?.to_string(),
///     "Compose(3, 3, 3, S[(64, 4, 64) : (64, 4096, 1)])",
/// );
/// # Ok::<(), kernel_layout::tile::TileError>(())
/// ```
///
/// # Errors
/// When rows are not whole atoms in bytes, or columns in rows (the error names the widest swizzle that fits); when a
/// swizzle is asked for with fewer than two axes, or an element size is not possible.
pub fn mma_shared(
    element_bits: u32,
    mode: SwizzleMode,
    shape: &[u64],
) -> Result<ComposeLayout, TileError> {
    let swizzle = Swizzle::of_mode(mode, element_bits)?;
    let chunk = u64::from(128 / element_bits);
    let [leading @ .., rows, columns] = shape else {
        return match mode {
            SwizzleMode::None => ComposeLayout::new(swizzle, TileLayout::row_major(shape)?),
            SwizzleMode::B32 | SwizzleMode::B64 | SwizzleMode::B128 => Err(TileError::Rank {
                what: "axes of a swizzled tile",
                actual: shape.len(),
                required: 2,
            }),
        };
    };
    if mode == SwizzleMode::None && columns % chunk != 0 {
        return ComposeLayout::new(swizzle, TileLayout::row_major(shape)?);
    }
    let columns_of_atom = chunk * u64::from(mode.bytes() / 16);
    let row_bytes = columns.saturating_mul(element_bits.into()) / 8;
    let fits = [128, 64, 32].into_iter().find(|&bytes| row_bytes.is_multiple_of(bytes.into()));
    if columns % columns_of_atom != 0 {
        let required = mode.bytes().into();
        let fits = fits.unwrap_or(0);
        return Err(TileError::Atom {
            what: "the bytes of a row",
            actual: row_bytes,
            required,
            fits,
        });
    }
    if mode != SwizzleMode::None && rows % 8 != 0 {
        return Err(TileError::Atom { what: "the rows", actual: *rows, required: 8, fits: 0 });
    }
    let ones = vec![1; leading.len()];
    let column = TileLayout::row_major(&[*rows, columns_of_atom])?;
    let column_shape = [&ones[..], &[*rows, columns_of_atom]].concat();
    ComposeLayout::new(swizzle, column.tile_to(shape, &column_shape)?)
}
