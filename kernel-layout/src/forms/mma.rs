//! Layouts of matrix-instruction fragments: `mma.sync`, `wgmma`, and products by fused multiply-add.
//!
//! PTX ISA, "Matrix Fragments for mma.m16n8k16" and its siblings: lane `l` has group `g = l / 4` and `t = l % 4`.
//! The accumulator registers c0..c3 are `(g, 2t)`, `(g, 2t+1)`, `(g+8, 2t)`, `(g+8, 2t+1)`. As bases: register
//! `[0,1] [8,0]`, lane `[0,2] [0,4] [1,0] [2,0] [4,0]`. The operands follow the same pattern with `k_width`
//! consecutive `k` instead of the pair: `k_width` is the number of elements in 32 bits.

use super::blocked::check_blocked;
use super::{
    LANES, broadcast_nd, check_one_of, check_powers, check_rank, check_shape, identity_nd,
};
use crate::layout::log2;
use crate::{Dim, Layout, LayoutError};

/// How many `k` a 32-bit register holds for elements of 32, 16, 8 and 4 bits.
const K_WIDTHS: &[u32] = &[1, 2, 4, 8];

/// Axis order with the columns fastest.
const COLUMNS_FIRST: &[u32] = &[1, 0];
/// Axis order with the rows fastest.
const ROWS_FIRST: &[u32] = &[0, 1];

/// Eight groups of four lanes: `t` walks `step` elements along axis `along`, `g` walks the other axis.
fn fragment_lanes(along: usize, step: u32) -> Vec<Vec<u32>> {
    let pair =
        |on_along, other| if along == 1 { vec![other, on_along] } else { vec![on_along, other] };
    vec![pair(step, 0), pair(2 * step, 0), pair(0, 1), pair(0, 2), pair(0, 4)]
}

fn tile(registers: Vec<Vec<u32>>, lanes: Vec<Vec<u32>>, sizes: [u32; 2]) -> Layout {
    let outs = vec![(Dim::Axis(0), sizes[0]), (Dim::Axis(1), sizes[1])];
    Layout::trusted(vec![(Dim::Register, registers), (Dim::Lane, lanes)], outs)
}

/// The accumulator of `m16n8`: 16 rows, 8 columns, four registers.
fn accumulator_tile() -> Layout {
    tile(vec![vec![0, 1], vec![8, 0]], fragment_lanes(1, 2), [16, 8])
}

/// Operand A of 16 rows by 8·`k_width` columns of `k`.
fn a_tile(k_width: u32) -> Layout {
    let mut registers: Vec<Vec<u32>> = (0..log2(k_width)).map(|bit| vec![0, 1 << bit]).collect();
    registers.push(vec![8, 0]);
    registers.push(vec![0, 4 * k_width]);
    tile(registers, fragment_lanes(1, k_width), [16, 8 * k_width])
}

/// Operand B of 8·`k_width` rows of `k` by 8 columns.
fn b_tile(k_width: u32) -> Layout {
    let mut registers: Vec<Vec<u32>> = (0..log2(k_width)).map(|bit| vec![1 << bit, 0]).collect();
    registers.push(vec![4 * k_width, 0]);
    tile(registers, fragment_lanes(0, k_width), [8 * k_width, 8])
}

fn check_matrix(warps: [u32; 2], shape: &[u32]) -> Result<(), LayoutError> {
    check_rank("shape", shape.len(), 2)?;
    check_shape(shape)?;
    check_powers("warps", &warps)
}

/// The accumulator of `mma.sync.m16n8k*`, with `warps` warps along rows and columns, columns fastest.
///
/// ```
/// use kernel_layout::forms::mma_v2_accumulator;
/// use kernel_layout::Dim;
/// let layout = mma_v2_accumulator([2, 2], &[64, 64])?;
/// assert_eq!(layout.bases(Dim::Register), [[0, 1], [8, 0], [0, 16], [0, 32], [32, 0]]);
/// assert_eq!(layout.bases(Dim::Lane), [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]);
/// assert_eq!(layout.bases(Dim::Warp), [[0, 8], [16, 0]]);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// When the rank is not 2 or a size is not a power of two.
pub fn mma_v2_accumulator(warps: [u32; 2], shape: &[u32]) -> Result<Layout, LayoutError> {
    check_matrix(warps, shape)?;
    let tile = accumulator_tile().product(&identity_nd(Dim::Warp, &warps, COLUMNS_FIRST));
    Ok(tile.fit(shape, COLUMNS_FIRST))
}

/// An operand of `mma.sync` whose accumulator is [`mma_v2_accumulator`] with the same `warps`.
///
/// `index` 0 is A with shape (m, k), 1 is B with shape (k, n). `k_width` is 32 divided by the bits of an element.
/// Warps along `k` repeat one another. The repeats of the tile walk `k` first.
///
/// ```
/// use kernel_layout::forms::mma_v2_operand;
/// use kernel_layout::Dim;
/// let a = mma_v2_operand(0, [2, 2], 2, &[64, 32])?;
/// assert_eq!(a.bases(Dim::Register), [[0, 1], [8, 0], [0, 8], [0, 16], [32, 0]]);
/// assert_eq!(a.bases(Dim::Warp), [[0, 0], [16, 0]]);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// When the rank is not 2, a size is not a power of two, or `index` or `k_width` is not a possible value.
pub fn mma_v2_operand(
    index: u32,
    warps: [u32; 2],
    k_width: u32,
    shape: &[u32],
) -> Result<Layout, LayoutError> {
    check_matrix(warps, shape)?;
    check_one_of("operand index", index, &[0, 1])?;
    check_one_of("k_width", k_width, K_WIDTHS)?;
    Ok(if index == 0 {
        a_tile(k_width)
            .product(&broadcast_nd(Dim::Warp, &warps, COLUMNS_FIRST, 1))
            .fit(shape, COLUMNS_FIRST)
    } else {
        b_tile(k_width)
            .product(&broadcast_nd(Dim::Warp, &warps, COLUMNS_FIRST, 0))
            .fit(shape, ROWS_FIRST)
    })
}

/// An operand like [`mma_v2_operand`], of elements of sixteen numbers: the four lanes along `k` hold an element together, each of
/// them four of its numbers.
///
/// ```
/// use kernel_layout::forms::mma_v2_quarters;
/// use kernel_layout::Dim;
/// let a = mma_v2_quarters(0, [2, 2], &[64, 4])?;
/// assert_eq!(a.bases(Dim::Register), [[8, 0], [0, 1], [0, 2], [32, 0]]);
/// assert_eq!(a.bases(Dim::Lane), [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]]);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// When the rank is not 2, a size is not a power of two, or `index` is not a possible value.
pub fn mma_v2_quarters(index: u32, warps: [u32; 2], shape: &[u32]) -> Result<Layout, LayoutError> {
    check_matrix(warps, shape)?;
    check_one_of("operand index", index, &[0, 1])?;
    Ok(if index == 0 {
        tile(vec![vec![8, 0], vec![0, 1]], fragment_lanes(1, 0), [16, 2])
            .product(&broadcast_nd(Dim::Warp, &warps, COLUMNS_FIRST, 1))
            .fit(shape, COLUMNS_FIRST)
    } else {
        tile(vec![vec![1, 0]], fragment_lanes(0, 0), [2, 8])
            .product(&broadcast_nd(Dim::Warp, &warps, COLUMNS_FIRST, 0))
            .fit(shape, ROWS_FIRST)
    })
}

/// The scales of an operand of a block-scaled `mma.sync` whose accumulator is [`mma_v2_accumulator`] with the same `warps`.
///
/// `index` 0 is those of A with shape (m, blocks), 1 those of B with shape (n, blocks). PTX ISA, "Block Scaling for mma.sync", with
/// the first lanes selected: of each four lanes, the first gives the scales of row `g` of A and the second those of row `g + 8`, the
/// first those of column `g` of B. The other lanes hold the same, and the instruction does not read them.
///
/// ```
/// use kernel_layout::forms::mma_v2_scales;
/// use kernel_layout::Dim;
/// let a = mma_v2_scales(0, [2, 2], &[64, 4])?;
/// assert_eq!(a.bases(Dim::Register), [[0, 1], [0, 2], [32, 0]]);
/// assert_eq!(a.bases(Dim::Lane), [[8, 0], [0, 0], [1, 0], [2, 0], [4, 0]]);
/// assert_eq!(a.bases(Dim::Warp), [[0, 0], [16, 0]]);
/// let b = mma_v2_scales(1, [2, 2], &[32, 4])?;
/// assert_eq!(b.bases(Dim::Register), [[0, 1], [0, 2], [16, 0]]);
/// assert_eq!(b.bases(Dim::Lane), [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]]);
/// assert_eq!(b.bases(Dim::Warp), [[8, 0], [0, 0]]);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// When the rank is not 2, a size is not a power of two, or `index` is not a possible value.
pub fn mma_v2_scales(index: u32, warps: [u32; 2], shape: &[u32]) -> Result<Layout, LayoutError> {
    check_matrix(warps, shape)?;
    check_one_of("operand index", index, &[0, 1])?;
    let (rows, selected) = if index == 0 { (16, 8) } else { (8, 0) };
    let lanes = vec![vec![selected, 0], vec![0, 0], vec![1, 0], vec![2, 0], vec![4, 0]];
    // The lines of an operand lie along the first axis, whichever that of the accumulator is.
    let lines = Dim::Axis(0);
    let warp_bits = [1, 0].map(|axis| {
        if axis == index {
            Layout::identity(Dim::Warp, lines, warps[axis as usize])
        } else {
            Layout::zeros(Dim::Warp, lines, warps[axis as usize])
        }
    });
    let tile =
        warp_bits.iter().fold(tile(Vec::new(), lanes, [rows, 1]), |tile, bits| tile.product(bits));
    Ok(tile.fit(shape, COLUMNS_FIRST))
}

/// The metadata of a sparse `mma.sync` whose accumulator is [`mma_v2_accumulator`] with the same `warps`: elements of 16 bits, of
/// which each has the indices of four adjacent groups of a row. `operand_bytes` is the size of an element of the operands.
///
/// PTX ISA, "Matrix fragments for multiply-accumulate operation with sparse matrix A", with sparsity selector 0: of each four lanes,
/// the first two give rows `g` and `g + 8` of one element each, which make a register, for 16 and 32 bits; for 8 bits a lane gives two
/// adjacent elements of a row, the first lane of row `g`, the second of row `g + 8`, and the others of the next two elements of
/// these rows. Lanes that the instruction does not read hold what others hold.
///
/// ```
/// use kernel_layout::forms::mma_v2_metadata;
/// use kernel_layout::Dim;
/// let halves = mma_v2_metadata(2, [2, 2], &[64, 4])?;
/// assert_eq!(halves.bases(Dim::Register), [[8, 0], [0, 2], [32, 0]]);
/// assert_eq!(halves.bases(Dim::Lane), [[0, 1], [0, 0], [1, 0], [2, 0], [4, 0]]);
/// assert_eq!(halves.bases(Dim::Warp), [[0, 0], [16, 0]]);
/// let bytes = mma_v2_metadata(1, [2, 2], &[32, 8])?;
/// assert_eq!(bytes.bases(Dim::Register), [[0, 1], [0, 4]]);
/// assert_eq!(bytes.bases(Dim::Lane), [[8, 0], [0, 2], [1, 0], [2, 0], [4, 0]]);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// When the rank is not 2, a size is not a power of two, or `operand_bytes` is not 1, 2 or 4.
pub fn mma_v2_metadata(
    operand_bytes: u32,
    warps: [u32; 2],
    shape: &[u32],
) -> Result<Layout, LayoutError> {
    check_matrix(warps, shape)?;
    Ok(metadata_tile(operand_bytes)?
        .product(&broadcast_nd(Dim::Warp, &warps, COLUMNS_FIRST, 1))
        .fit(shape, COLUMNS_FIRST))
}

/// The metadata of a warp for 16 rows and the deepest instruction.
fn metadata_tile(operand_bytes: u32) -> Result<Layout, LayoutError> {
    check_one_of("bytes of an operand's element", operand_bytes, &[1, 2, 4])?;
    let rows = [vec![1, 0], vec![2, 0], vec![4, 0]];
    let (register, lanes, sizes) = if operand_bytes == 1 {
        (vec![0, 1], [vec![8, 0], vec![0, 2]], [16, 4])
    } else {
        (vec![8, 0], [vec![0, 1], vec![0, 0]], [16, 2])
    };
    Ok(tile(vec![register], [&lanes[..], &rows].concat(), sizes))
}

/// The accumulator of `wgmma.mma_async.m64n{n}k*`, with `warps` warps along rows and columns, rows fastest.
///
/// PTX ISA, "Register Fragments for `wgmma.mma_async.m64nNk16`": register `i` of warp `w` is row
/// `16w + g + 8·(i/2 % 2)`, column `8·(i/4) + 2t + i % 2`. `warps[0]` is a multiple of 4, so that a warpgroup is whole;
/// `n` is the number of columns of one instruction.
///
/// ```
/// use kernel_layout::forms::wgmma_accumulator;
/// use kernel_layout::Dim;
/// let layout = wgmma_accumulator([4, 1], 64, &[64, 64])?;
/// assert_eq!(layout.bases(Dim::Register), [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]]);
/// assert_eq!(layout.bases(Dim::Warp), [[16, 0], [32, 0]]);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// When the rank is not 2, a size is not a power of two, or `n` is not one of 8, 16, 32, 64, 128, 256.
pub fn wgmma_accumulator(warps: [u32; 2], n: u32, shape: &[u32]) -> Result<Layout, LayoutError> {
    check_matrix(warps, shape)?;
    check_one_of("n", n, &[8, 16, 32, 64, 128, 256])?;
    let instruction =
        accumulator_tile().product(&Layout::identity(Dim::Register, Dim::Axis(1), n / 8));
    let tile = instruction.product(&identity_nd(Dim::Warp, &warps, ROWS_FIRST));
    Ok(tile.fit(shape, COLUMNS_FIRST))
}

/// Operand A of `wgmma` in registers, for an accumulator [`wgmma_accumulator`] with the same `warps`.
///
/// Its shape is (m, k). Within a warp it is operand A of `mma.sync`; `k_width` is 32 divided by the bits of an element.
///
/// ```
/// use kernel_layout::forms::wgmma_operand;
/// use kernel_layout::Dim;
/// let a = wgmma_operand([4, 1], 2, &[64, 64])?;
/// assert_eq!(a.bases(Dim::Register), [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]]);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// When the rank is not 2, a size is not a power of two, or `k_width` is not a possible value.
pub fn wgmma_operand(warps: [u32; 2], k_width: u32, shape: &[u32]) -> Result<Layout, LayoutError> {
    check_matrix(warps, shape)?;
    check_one_of("k_width", k_width, K_WIDTHS)?;
    Ok(a_tile(k_width)
        .product(&broadcast_nd(Dim::Warp, &warps, ROWS_FIRST, 1))
        .fit(shape, COLUMNS_FIRST))
}

/// The metadata of a sparse `wgmma` whose accumulator is [`wgmma_accumulator`] with the same `warps`. Each warp has that of its 16 rows as
/// [`mma_v2_metadata`] says (PTX ISA, "Matrix fragments for warpgroup-level multiply-accumulate operation with sparse matrix A").
///
/// ```
/// use kernel_layout::forms::wgmma_metadata;
/// use kernel_layout::Dim;
/// let halves = wgmma_metadata(2, [4, 2], &[128, 4])?;
/// assert_eq!(halves.bases(Dim::Register), [[8, 0], [0, 2], [64, 0]]);
/// assert_eq!(halves.bases(Dim::Lane), [[0, 1], [0, 0], [1, 0], [2, 0], [4, 0]]);
/// assert_eq!(halves.bases(Dim::Warp), [[16, 0], [32, 0], [0, 0]]);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// When the rank is not 2, a size is not a power of two, or `operand_bytes` is not 1, 2 or 4.
pub fn wgmma_metadata(
    operand_bytes: u32,
    warps: [u32; 2],
    shape: &[u32],
) -> Result<Layout, LayoutError> {
    check_matrix(warps, shape)?;
    Ok(metadata_tile(operand_bytes)?
        .product(&broadcast_nd(Dim::Warp, &warps, ROWS_FIRST, 1))
        .fit(shape, COLUMNS_FIRST))
}

/// An operand of a product by fused multiply-add whose result is blocked.
///
/// `per_thread`, `lanes`, `warps` and `order` are those of the result, of rank 2. A thread holds all of `k`; threads
/// along `k` repeat one another.
///
/// ```
/// use kernel_layout::forms::fma_operand;
/// use kernel_layout::Dim;
/// let a = fma_operand(0, &[2, 2], &[8, 4], &[2, 2], &[1, 0], &[64, 16])?;
/// assert_eq!(a.bases(Dim::Register), [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [32, 0]]);
/// assert_eq!(a.bases(Dim::Lane), [[0, 0], [0, 0], [2, 0], [4, 0], [8, 0]]);
/// assert_eq!(a.bases(Dim::Warp), [[0, 0], [16, 0]]);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// Those of [`super::blocked()`], and when the rank is not 2 or `index` is neither 0 nor 1.
pub fn fma_operand(
    index: u32,
    per_thread: &[u32],
    lanes: &[u32],
    warps: &[u32],
    order: &[u32],
    shape: &[u32],
) -> Result<Layout, LayoutError> {
    check_rank("shape", shape.len(), 2)?;
    check_blocked(per_thread, lanes, warps, order, shape)?;
    check_one_of("operand index", index, &[0, 1])?;
    let k_axis = usize::from(index == 0);
    let mut registers = per_thread.to_vec();
    registers[k_axis] = shape[k_axis];
    let tile = identity_nd(Dim::Register, &registers, order)
        .product(&broadcast_nd(Dim::Lane, lanes, order, k_axis))
        .product(&broadcast_nd(Dim::Warp, warps, order, k_axis));
    Ok(tile.fit(shape, order))
}

/// One 8×8 matrix of 16-bit elements as `ldmatrix` and `stmatrix` distribute it over a warp; `axis` is the one along
/// which a register holds two neighbours: 1 as stored, 0 for `.trans`.
///
/// PTX ISA, "ldmatrix": lane `l` holds elements `2(l % 4)` and `2(l % 4) + 1` of row `l / 4`, row `r` being the 16
/// bytes at the address that lane `r` supplies. Axis 0 counts those rows.
///
/// ```
/// use kernel_layout::forms::matrix_fragment;
/// use kernel_layout::Dim;
/// assert_eq!(matrix_fragment(1).bases(Dim::Lane), [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]]);
/// assert_eq!(matrix_fragment(0).bases(Dim::Lane), [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]]);
/// ```
///
/// # Requires
/// `axis` is 0 or 1.
pub fn matrix_fragment(axis: usize) -> Layout {
    assert!(axis < 2, "a matrix has no axis {axis}");
    let register = if axis == 1 { vec![0, 1] } else { vec![1, 0] };
    let lanes = fragment_lanes(axis, 2);
    debug_assert_eq!(1 << lanes.len(), LANES);
    tile(vec![register], lanes, [8, 8])
}
