//! The tiles of tensor memory: data paths, scale factors, the registers of loads, and the copies that write them.

use std::fmt;

use super::{Iter, Scopes, TileAxis, TileError, TileLayout};
use crate::forms::TmemAtom;

/// The places of a product's rows in tensor memory (PTX ISA, "tcgen05.mma data path layouts").
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DataPath {
    /// M = 256 of two CTAs: 128 rows in each.
    A,
    /// M = 128 of two CTAs: 64 rows in each, the right half of the columns below the left.
    B,
    /// M = 128 of two CTAs, sparse: 64 rows, 16 in each warp's quarter.
    C,
    /// M = 128 of one CTA.
    D,
    /// M = 64 of one CTA, weight stationary: like B.
    E,
    /// M = 64 of one CTA: 16 rows in each warp's quarter.
    F,
    /// M = 32 of one CTA, weight stationary: a quarter of the columns in each warp's rows.
    G,
}

impl DataPath {
    /// Every data path.
    pub const ALL: [DataPath; 7] =
        [DataPath::A, DataPath::B, DataPath::C, DataPath::D, DataPath::E, DataPath::F, DataPath::G];

    /// Its letter in the PTX manual.
    pub fn letter(self) -> &'static str {
        match self {
            DataPath::A => "A",
            DataPath::B => "B",
            DataPath::C => "C",
            DataPath::D => "D",
            DataPath::E => "E",
            DataPath::F => "F",
            DataPath::G => "G",
        }
    }

    /// The rows of one CTA.
    pub fn rows(self) -> u64 {
        match self {
            DataPath::A | DataPath::D => 128,
            DataPath::B | DataPath::C | DataPath::E | DataPath::F => 64,
            DataPath::G => 32,
        }
    }
}

fn iter(extent: u64, stride: i64, axis: TileAxis) -> Iter {
    Iter::new(extent, stride, axis)
}

fn lane(extent: u64, stride: i64) -> Iter {
    iter(extent, stride, TileAxis::TLane)
}

fn column(extent: u64, stride: i64) -> Iter {
    iter(extent, stride, TileAxis::TCol)
}

/// A result of [`DataPath::rows`] rows and `columns` columns.
///
/// `slab` chooses the upper or lower 16 rows of every warp's quarter, for the paths that use half of them.
///
/// ```
/// use kernel_layout::tile::{DataPath, data_path};
/// assert_eq!(data_path(DataPath::B, 64, 0)?.to_string(), "S[(64, 2, 32) : (1 @ TLane, 64 @ TLane, 1 @ TCol)]");
/// assert_eq!(
///     data_path(DataPath::F, 64, 1)?.to_string(),
///     "S[(4, 16, 64) : (32 @ TLane, 1 @ TLane, 1 @ TCol)] + 16 @ TLane",
/// );
/// # Ok::<(), kernel_layout::tile::TileError>(())
/// ```
///
/// # Errors
/// When `slab` is neither 0 nor 1, or 1 for a path other than C and F; when B or E has an odd number of columns, or G no
/// multiple of 4.
pub fn data_path(path: DataPath, columns: u64, slab: u64) -> Result<TileLayout, TileError> {
    let refused = |required| Err(TileError::DataPath { path: path.letter(), required });
    if slab > 1 {
        return Err(TileError::NotOneOf { what: "sub_slab", actual: slab, allowed: &[0, 1] });
    }
    let parts = match path {
        DataPath::A | DataPath::C | DataPath::D | DataPath::F => 1,
        DataPath::B | DataPath::E => 2,
        DataPath::G => 4,
    };
    if !columns.is_multiple_of(parts) {
        return refused(if parts == 2 {
            "an even number of columns"
        } else {
            "4 columns, or 8, .."
        });
    }
    let part = column(columns / parts, 1);
    let shard = match path {
        DataPath::A | DataPath::D => vec![lane(128, 1), part],
        DataPath::B | DataPath::E => vec![lane(64, 1), lane(2, 64), part],
        DataPath::G => vec![lane(32, 1), lane(4, 32), part],
        DataPath::C | DataPath::F => {
            let offset = (TileAxis::TLane, 16 * slab.cast_signed());
            let shard = vec![lane(4, 32), lane(16, 1), part];
            let offset = (slab == 1).then_some(offset);
            return TileLayout::new(shard, Vec::new(), offset);
        }
    };
    if slab == 1 {
        return refused("sub_slab 0: it spans both already");
    }
    TileLayout::new(shard, Vec::new(), [])
}

/// A form of `tcgen05.mma`, chosen by its modifiers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ProductForm {
    /// Without a modifier.
    Dense,
    /// `.ws`: the matrix B stays.
    WeightStationary,
}

/// The data path of a product of `m` rows by `ctas` CTAs. Sparse products (`.sp`) are not described here.
///
/// ```
/// use kernel_layout::tile::{DataPath, ProductForm, accumulator_data_path};
/// assert_eq!(accumulator_data_path(ProductForm::Dense, 64, 1)?, DataPath::F);
/// assert_eq!(accumulator_data_path(ProductForm::WeightStationary, 64, 1)?, DataPath::E);
/// assert_eq!(accumulator_data_path(ProductForm::Dense, 128, 2)?, DataPath::B);
/// # Ok::<(), kernel_layout::tile::TileError>(())
/// ```
///
/// # Errors
/// When one CTA does not have 64 or 128 rows, two do not have 128 or 256, or there are more; when a weight-stationary
/// product has more than one CTA, or does not have 64 rows.
pub fn accumulator_data_path(form: ProductForm, m: u64, ctas: u64) -> Result<DataPath, TileError> {
    if form == ProductForm::WeightStationary {
        let none_of = |what, actual, allowed| Err(TileError::NotOneOf { what, actual, allowed });
        return match (ctas, m) {
            (1, 64) => Ok(DataPath::E),
            (1, actual) => none_of("M of a weight-stationary product", actual, &[64]),
            (actual, _) => {
                none_of("the number of CTAs of a weight-stationary product", actual, &[1])
            }
        };
    }
    match (ctas, m) {
        (1, 128) => Ok(DataPath::D),
        (1, 64) => Ok(DataPath::F),
        (2, 256) => Ok(DataPath::A),
        (2, 128) => Ok(DataPath::B),
        (1, actual) => {
            Err(TileError::NotOneOf { what: "M of one CTA", actual, allowed: &[64, 128] })
        }
        (2, actual) => {
            Err(TileError::NotOneOf { what: "M of two CTAs", actual, allowed: &[128, 256] })
        }
        (actual, _) => Err(TileError::NotOneOf { what: "the CTAs", actual, allowed: &[1, 2] }),
    }
}

/// Operand A, of `shape`, in tensor memory, for a product whose result has that data path.
///
/// Path B takes the rows twice or, with a leading axis of 2, one batch above the other; E takes only batches.
///
/// # Errors
/// When the path does not take the shape.
pub fn operand_a(path: DataPath, shape: &[u64]) -> Result<TileLayout, TileError> {
    let refused = |required| Err(TileError::DataPath { path: path.letter(), required });
    let batches =
        |k: u64| TileLayout::new(vec![lane(2, 64), lane(64, 1), column(k, 1)], vec![], []);
    let plain =
        |rows: u64, k: u64, copies| TileLayout::new(vec![lane(rows, 1), column(k, 1)], copies, []);
    match (path, shape) {
        (DataPath::A | DataPath::D, &[128, k]) => plain(128, k, vec![]),
        (DataPath::B, &[64, k]) => plain(64, k, vec![lane(2, 64)]),
        (DataPath::B | DataPath::E, &[2, 64, k]) => batches(k),
        (DataPath::F, &[64, k]) => plain(64, k, vec![]),
        (DataPath::A | DataPath::D, _) => refused("an operand of 128 rows"),
        (DataPath::B, _) => refused("an operand of 64 rows, or two of them"),
        (DataPath::E, _) => refused("two operands of 64 rows"),
        (DataPath::F, _) => refused("an operand of 64 rows"),
        (DataPath::C | DataPath::G, _) => refused("operand A in shared memory"),
    }
}

/// The scale factors of an operand: how many, and how many one instruction takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ScaleFactors {
    /// The rows of the operand, a multiple of 32.
    pub rows: u64,
    /// The scale factors of one row, a multiple of `per_instruction`.
    pub columns: u64,
    /// How many of a row one instruction takes: 4 for nvfp4, 2 for mxfp4, 1 for fp8.
    pub per_instruction: u64,
    /// How many times the same factor is used consecutively.
    pub reuse: u64,
    /// Buffers one after another.
    pub depth: u64,
}

/// Scale factors, 8 bits each, in tensor memory: 32 rows for all four warps, four factors to a word.
///
/// ```
/// use kernel_layout::tile::{ScaleFactors, scale_factors};
/// let factors = ScaleFactors { rows: 128, columns: 4, per_instruction: 4, reuse: 1, depth: 1 };
/// assert_eq!(
///     scale_factors(factors)?.to_string(),
///     "S[(4, 32, 4) : (4 @ TCol, 1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]",
/// );
/// # Ok::<(), kernel_layout::tile::TileError>(())
/// ```
///
/// # Errors
/// When an instruction does not take 1, 2 or 4 factors, rows are not a multiple of 32, columns are not a multiple of
/// what instructions take, or several instructions do not fill words.
pub fn scale_factors(factors: ScaleFactors) -> Result<TileLayout, TileError> {
    let ScaleFactors { rows, columns, per_instruction, reuse, depth } = factors;
    if ![1, 2, 4].contains(&per_instruction) {
        let actual = per_instruction;
        return Err(TileError::NotOneOf {
            what: "scale factors of one instruction",
            actual,
            allowed: &[1, 2, 4],
        });
    }
    let multiple = |what, actual: u64, required: u64| {
        if actual > 0 && actual.is_multiple_of(required) {
            Ok(actual / required)
        } else {
            Err(TileError::Atom { what, actual, required, fits: 0 })
        }
    };
    let blocks = multiple("the rows", rows, 32)?;
    let steps = multiple("the columns", columns, per_instruction)?;
    let in_word = 4 / per_instruction;
    let atom =
        TileLayout::new(vec![lane(32, 1), column(per_instruction, 1)], vec![lane(4, 32)], [])?;
    let words = if steps == 1 { 1 } else { multiple("the columns", columns, 4)? };
    let down = 4 * i64::try_from(blocks).unwrap_or(i64::MAX / 8);
    let mut outer = vec![column(blocks, 4)];
    if steps > 1 {
        outer.push(column(words, down));
        outer.push(column(in_word, per_instruction.cast_signed()));
    }
    let outer = TileLayout::new(outer, vec![], [])?;
    let one = atom.direct_sum(&outer, &[blocks, steps], &[32, per_instruction])?;
    let stage = down.saturating_mul(words.cast_signed());
    let mut shard = one.shard().to_vec();
    if depth > 1 {
        shard.insert(0, column(depth, stage));
    }
    if reuse > 1 {
        shard.push(column(reuse, 0));
    }
    TileLayout::new(shard, one.replica().to_vec(), [])
}

/// Scale factors, 8 bits each, in the order in which a copy to tensor memory reads them from shared memory: 512 bytes
/// for every 128 rows by 4 columns, in which row `r` is the 4 bytes at `16·(r mod 32) + 4·(r / 32)`.
///
/// ```
/// use kernel_layout::tile::scale_factors_shared;
/// assert_eq!(scale_factors_shared(128, 4)?.to_string(), "S[(4, 32, 4) : (4, 16, 1)]");
/// # Ok::<(), kernel_layout::tile::TileError>(())
/// ```
///
/// # Errors
/// When rows are not a multiple of 128, or columns none of 4.
pub fn scale_factors_shared(rows: u64, columns: u64) -> Result<TileLayout, TileError> {
    for (what, actual, required) in [("the rows", rows, 128), ("the columns", columns, 4)] {
        if actual == 0 || !actual.is_multiple_of(required) {
            return Err(TileError::Atom { what, actual, required, fits: 0 });
        }
    }
    let (blocks, words) = (rows / 128, columns / 4);
    let memory = |extent, stride: u64| {
        iter(extent, i64::try_from(stride).unwrap_or(i64::MAX), TileAxis::Memory)
    };
    let shard = vec![
        memory(blocks, words.saturating_mul(512)),
        memory(4, 4),
        memory(32, 16),
        memory(words, 512),
        memory(4, 1),
    ];
    Ok(TileLayout::new(shard, vec![], [])?.canonicalize(Scopes::Kept))
}

/// The metadata of a sparse operand in tensor memory, 16 bits each: `rows` of the operand, `columns` elements of metadata for each.
///
/// Of operands of 8 bits each row has a lane. Of those of 16 and 32 bits, rows `r` and `r + 8` of each sixteen share words: the
/// first has the lower half. An instruction has two elements of a row, the first in lane `r`, the second in lane `r + 8` (PTX ISA,
/// "Sparsity selector").
///
/// ```
/// use kernel_layout::tile::sparse_metadata;
/// assert_eq!(sparse_metadata(128, 4, 8)?.to_string(), "S[(128, 4) : (1 @ TLane, 1 @ TCol)]");
/// assert_eq!(
///     sparse_metadata(128, 4, 16)?.to_string(),
///     "S[(8, 2, 8, 2, 2) : (16 @ TLane, 1 @ TCol, 1 @ TLane, 2 @ TCol, 8 @ TLane)]",
/// );
/// # Ok::<(), kernel_layout::tile::TileError>(())
/// ```
///
/// # Errors
/// When rows are not a multiple of 128, or columns none of 4, which are a pair of columns of 32 bits.
pub fn sparse_metadata(
    rows: u64,
    columns: u64,
    operand_bits: u32,
) -> Result<TileLayout, TileError> {
    for (what, actual, required) in [("the rows", rows, 128), ("the columns", columns, 4)] {
        if actual == 0 || !actual.is_multiple_of(required) {
            return Err(TileError::Atom { what, actual, required, fits: 0 });
        }
    }
    let down = i64::try_from(columns).unwrap_or(i64::MAX);
    let mut shard = Vec::new();
    if rows > 128 {
        shard.push(column(rows / 128, down));
    }
    if operand_bits == 8 {
        shard.extend([lane(128, 1), column(columns, 1)]);
    } else {
        shard.extend([lane(8, 16), column(2, 1), lane(8, 1), column(columns / 2, 2), lane(2, 8)]);
    }
    TileLayout::new(shard, Vec::new(), [])
}

/// The registers that `tcgen05.ld` of `atom`, `n` times along the columns, fills in a warpgroup, for 64 rows or 128.
///
/// With 128 rows, atoms of 16 rows are loaded twice, the second time into the upper half of the registers. Elements of
/// fewer than 32 bits are packed in a register. 64 rows by `32x32b` are those of data path B.
///
/// ```
/// use kernel_layout::forms::TmemAtom;
/// use kernel_layout::tile::fragment;
/// assert_eq!(
///     fragment(TmemAtom::M16x64b, 64, 8, 32)?.to_string(),
///     "S[(4, 2, 8, 8, 2) : (32 @ tid_in_wg, 1 @ tid_in_wg, 4 @ tid_in_wg, 1, 2 @ tid_in_wg)]",
/// );
/// # Ok::<(), kernel_layout::tile::TileError>(())
/// ```
///
/// # Errors
/// When the rows are neither 64 nor 128, an element does not have 8, 16 or 32 bits, or no instruction has that `n` (PTX
/// ISA, "tcgen05.ld": at most 128 registers; for the two rows of data path B and `16x32bx2`, `n` counts one half).
pub fn fragment(
    atom: TmemAtom,
    rows: u64,
    n: u64,
    element_bits: u64,
) -> Result<TileLayout, TileError> {
    if ![64, 128].contains(&rows) {
        return Err(TileError::NotOneOf { what: "rows", actual: rows, allowed: &[64, 128] });
    }
    if ![8, 16, 32].contains(&element_bits) {
        let actual = element_bits;
        return Err(TileError::NotOneOf { what: "element bits", actual, allowed: &[8, 16, 32] });
    }
    let allowed: &[u64] = match atom {
        TmemAtom::M32x32b | TmemAtom::M16x64b | TmemAtom::M16x32bx2 => {
            &[1, 2, 4, 8, 16, 32, 64, 128]
        }
        TmemAtom::M16x128b => &[1, 2, 4, 8, 16, 32, 64],
        TmemAtom::M16x256b => &[1, 2, 4, 8, 16, 32],
    };
    if !allowed.contains(&n) {
        return Err(TileError::NotOneOf { what: "the repeats of a load", actual: n, allowed });
    }
    let thread = |extent, stride| iter(extent, stride, TileAxis::ThreadInWarpgroup);
    let register = |extent, stride| iter(extent, stride, TileAxis::Memory);
    let (rows_of_atom, columns, registers) = match atom {
        TmemAtom::M32x32b if rows == 128 => (vec![thread(32, 1)], vec![register(n, 1)], n),
        TmemAtom::M32x32b => {
            let halves = vec![thread(2, 64), register(n, 1)];
            let shard = [vec![thread(64, 1)], halves].concat();
            return TileLayout::new(shard, vec![], [])?.unpack_words(element_bits);
        }
        TmemAtom::M16x32bx2 if rows == 64 => {
            (vec![thread(16, 1)], vec![thread(2, 16), register(n, 1)], n)
        }
        TmemAtom::M16x32bx2 => {
            return Err(TileError::NotOneOf {
                what: "rows of 16x32bx2",
                actual: rows,
                allowed: &[64],
            });
        }
        TmemAtom::M16x64b => {
            (vec![thread(2, 1), thread(8, 4)], vec![register(n, 1), thread(2, 2)], n)
        }
        TmemAtom::M16x128b => {
            (vec![register(2, 1), thread(8, 4)], vec![register(n, 2), thread(4, 1)], 2 * n)
        }
        TmemAtom::M16x256b => (
            vec![register(2, 2), thread(8, 4)],
            vec![register(n, 4), thread(4, 1), register(2, 1)],
            4 * n,
        ),
    };
    let mut shard = vec![thread(4, 32)];
    if rows == 128 && atom != TmemAtom::M32x32b {
        shard.push(register(2, registers.cast_signed()));
    }
    shard.extend(rows_of_atom);
    shard.extend(columns);
    TileLayout::new(shard, vec![], [])?.unpack_words(element_bits)
}

impl TileLayout {
    /// Places of 32 bits split into elements.
    fn unpack_words(&self, element_bits: u64) -> Result<TileLayout, TileError> {
        if element_bits == 32 { Ok(self.clone()) } else { self.unpack(32 / element_bits) }
    }
}

/// The rows that one `tcgen05.cp` copies to tensor memory, and the warps that get them (PTX ISA, "tcgen05.cp").
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CopyShape {
    /// `128x256b`: 128 rows of 32 bytes.
    M128x256b,
    /// `4x256b`: one row for each warp.
    M4x256b,
    /// `128x128b`: 128 rows of 16 bytes.
    M128x128b,
    /// `64x128b.warpx2::02_13`: 64 rows, for warps 0 and 1, and again for 2 and 3.
    M64x128bWarps02And13,
    /// `64x128b.warpx2::01_23`: 64 rows, the first 32 for warps 0 and 1, the others for 2 and 3.
    M64x128bWarps01And23,
    /// `32x128b.warpx4`: 32 rows, for every warp.
    M32x128bWarps4,
}

impl CopyShape {
    /// Every shape, in the order in which they are tried.
    pub const ALL: [CopyShape; 6] = [
        CopyShape::M128x256b,
        CopyShape::M4x256b,
        CopyShape::M128x128b,
        CopyShape::M64x128bWarps02And13,
        CopyShape::M64x128bWarps01And23,
        CopyShape::M32x128bWarps4,
    ];

    /// The PTX manual's name, with the multicast.
    pub fn name(self) -> &'static str {
        match self {
            CopyShape::M128x256b => "128x256b",
            CopyShape::M4x256b => "4x256b",
            CopyShape::M128x128b => "128x128b",
            CopyShape::M64x128bWarps02And13 => "64x128b.warpx2::02_13",
            CopyShape::M64x128bWarps01And23 => "64x128b.warpx2::01_23",
            CopyShape::M32x128bWarps4 => "32x128b.warpx4",
        }
    }

    /// The shape of a name and a multicast as the PTX manual writes them.
    ///
    /// ```
    /// use kernel_layout::tile::CopyShape;
    /// assert_eq!(CopyShape::named("32x128b", Some("warpx4")), Ok(CopyShape::M32x128bWarps4));
    /// let error = CopyShape::named("64x128b", None).expect_err("there are two");
    /// assert_eq!(
    ///     error.to_string(),
    ///     "tcgen05.cp 64x128b takes one of [\"warpx2::02_13\", \"warpx2::01_23\"], but there is no multicast",
    /// );
    /// ```
    ///
    /// # Errors
    /// When there is no such shape, or it does not allow that multicast, or needs one.
    pub fn named(shape: &str, multicast: Option<&str>) -> Result<CopyShape, TileError> {
        let parts = |one: CopyShape| match one.name().split_once('.') {
            Some((shape, multicast)) => (shape, Some(multicast)),
            None => (one.name(), None),
        };
        let of_shape: Vec<CopyShape> =
            CopyShape::ALL.into_iter().filter(|&one| parts(one).0 == shape).collect();
        if of_shape.is_empty() {
            return Err(TileError::CopyShape { actual: shape.to_owned() });
        }
        of_shape.iter().copied().find(|&one| parts(one).1 == multicast).ok_or_else(|| {
            TileError::Multicast {
                shape: shape.to_owned(),
                allowed: of_shape.iter().filter_map(|&one| parts(one).1).collect(),
                actual: multicast.map(str::to_owned),
            }
        })
    }

    /// The digits along `TLane` that a layout in canonical form must have.
    pub fn lanes(self) -> Vec<Iter> {
        match self {
            CopyShape::M128x256b | CopyShape::M128x128b => vec![lane(128, 1)],
            CopyShape::M4x256b => vec![lane(4, 32)],
            CopyShape::M64x128bWarps02And13 => vec![lane(64, 1)],
            CopyShape::M64x128bWarps01And23 => vec![lane(2, 64), lane(32, 1)],
            CopyShape::M32x128bWarps4 => vec![lane(32, 1)],
        }
    }

    /// The copies that it must have.
    pub fn replica(self) -> Vec<Iter> {
        match self {
            CopyShape::M128x256b | CopyShape::M4x256b | CopyShape::M128x128b => vec![],
            CopyShape::M64x128bWarps02And13 => vec![lane(2, 64)],
            CopyShape::M64x128bWarps01And23 => vec![lane(2, 32)],
            CopyShape::M32x128bWarps4 => vec![lane(4, 32)],
        }
    }

    /// For a layout with a row in the first lane of each warp and nothing in its other 31, as [`CopyShape::M4x256b`]
    /// writes it, the layout in which all 32 lanes hold the row. None for others.
    ///
    /// ```
    /// use kernel_layout::tile::{CopyShape, TileLayout};
    /// let sparse: TileLayout = "S[(4, 8) : (32 @ TLane, 1 @ TCol)]".parse()?;
    /// let filled = CopyShape::filled(&sparse).expect("a row for each warp");
    /// assert_eq!(filled.to_string(), "S[(4, 8) : (32 @ TLane, 1 @ TCol)] + R[32 : 1 @ TLane]");
    /// assert_eq!(CopyShape::filled(&filled), None);
    /// # Ok::<(), kernel_layout::tile::NotationError>(())
    /// ```
    pub fn filled(layout: &TileLayout) -> Option<TileLayout> {
        CopyShape::M4x256b.mismatch(layout).is_none().then(|| {
            let offset = layout.offset().iter().map(|(&axis, &by)| (axis, by));
            TileLayout::new(layout.shard().to_vec(), vec![lane(32, 1)], offset)
                .expect("the digits are those of a layout")
        })
    }

    /// Why a copy of this shape does not write such a layout of tensor memory; none if it does.
    ///
    /// ```
    /// use kernel_layout::tile::{CopyShape, TileLayout};
    /// let once: TileLayout = "S[(32, 16) : (1 @ TLane, 1 @ TCol)]".parse()?;
    /// let mismatch = CopyShape::M32x128bWarps4.mismatch(&once).expect("the other warps have nothing");
    /// assert_eq!(
    ///     mismatch.to_string(),
    ///     "tcgen05.cp 32x128b.warpx4: required R[4 : 32 @ TLane], actual no copies",
    /// );
    /// # Ok::<(), kernel_layout::tile::NotationError>(())
    /// ```
    pub fn mismatch(self, layout: &TileLayout) -> Option<CopyMismatch> {
        let short = layout.canonicalize(Scopes::Kept);
        let on_lanes = |iters: &[Iter]| -> Vec<Iter> {
            iters.iter().copied().filter(|iter| iter.axis == TileAxis::TLane).collect()
        };
        let (lanes, replica) = (on_lanes(short.shard()), short.replica().to_vec());
        if lanes != self.lanes() {
            let (required, actual) = (self.lanes(), lanes);
            return Some(CopyMismatch { shape: self, what: CopyPart::Lanes, required, actual });
        }
        if replica != self.replica() {
            let (required, actual) = (self.replica(), replica);
            return Some(CopyMismatch { shape: self, what: CopyPart::Replica, required, actual });
        }
        None
    }

    /// The first shape whose copies write such a layout of tensor memory.
    ///
    /// ```
    /// use kernel_layout::tile::{CopyShape, TileLayout};
    /// let layout: TileLayout = "S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]".parse()?;
    /// assert_eq!(CopyShape::infer(&layout), Ok(CopyShape::M32x128bWarps4));
    /// # Ok::<(), kernel_layout::tile::NotationError>(())
    /// ```
    ///
    /// # Errors
    /// When there is none: the reason for every shape.
    pub fn infer(layout: &TileLayout) -> Result<CopyShape, Vec<CopyMismatch>> {
        let mut refused = Vec::new();
        for shape in CopyShape::ALL {
            match shape.mismatch(layout) {
                None => return Ok(shape),
                Some(mismatch) => refused.push(mismatch),
            }
        }
        Err(refused)
    }
}

/// The part of a layout that a copy's shape determines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CopyPart {
    /// The digits along `TLane`.
    Lanes,
    /// The copies.
    Replica,
}

/// Why a copy does not write a layout of tensor memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CopyMismatch {
    /// The shape of the copy.
    pub shape: CopyShape,
    /// Which part differs.
    pub what: CopyPart,
    /// The part as it must be.
    pub required: Vec<Iter>,
    /// The part as it is.
    pub actual: Vec<Iter>,
}

impl fmt::Display for CopyMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (letter, none) = match self.what {
            CopyPart::Lanes => ("S", "no rows"),
            CopyPart::Replica => ("R", "no copies"),
        };
        let text = |iters: &[Iter]| {
            if iters.is_empty() {
                return none.to_owned();
            }
            format!("{letter}[{}]", super::notation::digits(iters))
        };
        let (required, actual) = (text(&self.required), text(&self.actual));
        write!(f, "tcgen05.cp {}: required {required}, actual {actual}", self.shape.name())
    }
}
