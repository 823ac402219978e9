//! Layouts of tensor memory: from row and column to the element stored there. The section on tensor memory in
//! [`super`] has the whole picture.

use super::{check_one_of, check_rank, check_shape};
use crate::layout::log2;
use crate::{Dim, Layout, LayoutError};

/// The rows of tensor memory.
pub const TENSOR_MEMORY_ROWS: u32 = 128;
/// The 32-bit columns of tensor memory.
pub const TENSOR_MEMORY_COLUMNS: u32 = 512;

/// The rows of one block: the M of one `tcgen05.mma` of one CTA.
const BLOCK_ROWS: &[u32] = &[64, 128];
/// The columns of one block; more than a product makes, for tiles that are only copied.
const BLOCK_COLUMNS: &[u32] = &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
/// How many columns apart elements of 32, 16 and 8 bits can be within their words.
const COLUMN_STRIDES: &[u32] = &[1, 2, 4];

/// Adjacent blocks of `block[0]` rows and `block[1]` columns in tensor memory.
///
/// `col_stride` counts the places from one column to the next in units of an element: 1 packs two 16-bit elements into
/// a word, 2 gives each its own word. With `two_ctas` the block is one CTA's half of a product of two CTAs; a half of
/// 64 rows then has its right half of the columns in rows 64 to 127 (PTX ISA, "Data path layout B"). Blocks repeat
/// along the rows of the tensor first and then along its columns, each time in further columns of memory. A leading
/// third axis counts buffers, in further columns again.
///
/// A tensor of 256×128 in blocks of 128×128 takes 256 columns: the second block of rows starts at column 128.
///
/// ```
/// use kernel_layout::forms::tensor_memory;
/// use kernel_layout::Dim;
/// let layout = tensor_memory([128, 128], 1, false, &[256, 128])?;
/// assert_eq!(layout.bases(Dim::Row), [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0], [64, 0]]);
/// assert_eq!(layout.bases(Dim::Col)[6..], [[0, 64], [128, 0]]);
/// // 64 rows: memory row 16 is column 64 of the tensor.
/// let narrow = tensor_memory([64, 64], 1, false, &[64, 128])?;
/// assert_eq!(narrow.bases(Dim::Row)[3..], [[8, 0], [0, 64], [16, 0], [32, 0]]);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// When a block does not have 64 or 128 rows, the stride is not 1, 2 or 4, the rank is not 2 or 3, a size is not a power
/// of two, or the tensor is smaller than a block.
pub fn tensor_memory(
    block: [u32; 2],
    col_stride: u32,
    two_ctas: bool,
    shape: &[u32],
) -> Result<Layout, LayoutError> {
    check_one_of("rows of a block", block[0], BLOCK_ROWS)?;
    check_one_of("columns of a block", block[1], BLOCK_COLUMNS)?;
    check_one_of("column stride", col_stride, COLUMN_STRIDES)?;
    check_shape(shape)?;
    if let [buffers, rows, columns] = *shape {
        let one = tensor_memory(block, col_stride, two_ctas, &[rows, columns])?;
        return Ok(one.expand_axis(0).product(&Layout::identity(Dim::Col, Dim::Axis(0), buffers)));
    }
    check_rank("shape", shape.len(), 2)?;
    let (rows, columns) = (shape[0], shape[1]);
    if rows < block[0] || columns < block[1] {
        return Err(LayoutError::BlockSize { actual: [rows, columns], required: block });
    }
    let tile = Layout::zeros(Dim::Col, Dim::Axis(1), col_stride).product(&block_layout(
        block,
        two_ctas,
        [rows, columns],
    ));
    let tile = tile.transpose_ins(&[Dim::Row, Dim::Col]);
    let along =
        |axis, size: u32| Layout::identity(Dim::Col, axis, size >> log2(tile.out_size(axis)));
    let layout = tile.product(&along(Dim::Axis(0), rows)).product(&along(Dim::Axis(1), columns));
    Ok(layout.transpose_outs(&[Dim::Axis(0), Dim::Axis(1)]))
}

/// One block; in a block of 64 rows, row bit 4 leads to the given basis.
fn block_layout(block: [u32; 2], two_ctas: bool, shape: [u32; 2]) -> Layout {
    let rows = |size| Layout::identity(Dim::Row, Dim::Axis(0), size);
    let columns = |size| Layout::identity(Dim::Col, Dim::Axis(1), size);
    if block[0] == TENSOR_MEMORY_ROWS {
        return rows(block[0]).product(&columns(block[1]));
    }
    if two_ctas && block[1] > 1 {
        let halves = Layout::identity(Dim::Row, Dim::Axis(1), 2);
        return rows(64).product(&columns(block[1] / 2)).product(&halves);
    }
    // The rows of memory are listed by hand, because bit 4 is outermost in the tensor.
    let (middle, sizes) = if shape[0] > 64 {
        (vec![64, 0], [128, block[1]])
    } else if shape[1] > block[1] {
        (vec![0, block[1]], [64, 2 * block[1]])
    } else {
        (vec![0, 0], [64, block[1]])
    };
    let mut bases: Vec<Vec<u32>> = [1, 2, 4, 8].into_iter().map(|row| vec![row, 0]).collect();
    bases.extend([middle, vec![16, 0], vec![32, 0]]);
    let cols = (0..log2(block[1])).map(|bit| vec![0, 1 << bit]).collect();
    let outs = vec![(Dim::Axis(0), sizes[0]), (Dim::Axis(1), sizes[1])];
    Layout::trusted(vec![(Dim::Row, bases), (Dim::Col, cols)], outs)
}

/// The scale factors of a block-scaled product, 8 bits each: rows of the matrix by groups along `k`.
///
/// Four scales along `k` fill one word; 32 rows are 32 rows of memory, which all four warps hold (row bits 5 and 6 are
/// zero); further rows are in further columns, four adjacent blocks of 32 rows (PTX ISA, "Scale factor layouts"). The
/// tile of 128×4 repeats along the rows first.
///
/// ```
/// use kernel_layout::forms::tensor_memory_scales;
/// use kernel_layout::Dim;
/// let layout = tensor_memory_scales(&[128, 8])?;
/// assert_eq!(layout.bases(Dim::Row)[4..], [[16, 0], [0, 0], [0, 0]]);
/// assert_eq!(layout.bases(Dim::Col), [[0, 1], [0, 2], [32, 0], [64, 0], [0, 4]]);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// When the rank is not 2 or a size is not a power of two.
pub fn tensor_memory_scales(shape: &[u32]) -> Result<Layout, LayoutError> {
    check_rank("shape", shape.len(), 2)?;
    check_shape(shape)?;
    let rows = Layout::identity(Dim::Row, Dim::Axis(0), 32).product(&Layout::zeros(
        Dim::Row,
        Dim::Axis(0),
        4,
    ));
    let tile = rows
        .product(&Layout::identity(Dim::Col, Dim::Axis(1), 4))
        .product(&Layout::identity(Dim::Col, Dim::Axis(0), 4));
    // Growing appends to the first input dimension, and tensor memory grows by columns.
    let fitted = tile.transpose_ins(&[Dim::Col, Dim::Row]).fit(shape, &[0, 1]);
    Ok(fitted.transpose_ins(&[Dim::Row, Dim::Col]))
}

/// Checks that a layout of a tile's rows and columns, however it was written, is one of tensor memory.
///
/// It has all 128 rows; some may be copies, as in `R[4 : 32 @ TLane]`. Columns of 32 bits may not be copies.
///
/// ```
/// use kernel_layout::Form;
/// use kernel_layout::forms::check_tensor_memory;
/// let copies: kernel_layout::tile::TileLayout = "S[(32, 16) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]".parse()?;
/// let once: kernel_layout::tile::TileLayout = "S[(32, 16) : (1 @ TLane, 1 @ TCol)]".parse()?;
/// assert!(check_tensor_memory(&Form::Tile(copies).to_layout(&[32, 16])?, 8).is_ok());
/// assert!(check_tensor_memory(&Form::Tile(once).to_layout(&[32, 16])?, 8).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`LayoutError::ForeignDim`] for other inputs than rows and columns, [`LayoutError::TensorMemoryRows`] for fewer or more rows,
/// [`LayoutError::TensorMemoryCopies`] for columns that repeat others.
pub fn check_tensor_memory(layout: &Layout, element_bits: u32) -> Result<(), LayoutError> {
    if let Some(dim) = layout.in_dims().find(|dim| !matches!(dim, Dim::Row | Dim::Col)) {
        return Err(LayoutError::ForeignDim { dim });
    }
    let actual = layout.in_size(Dim::Row);
    if actual != TENSOR_MEMORY_ROWS {
        return Err(LayoutError::TensorMemoryRows { actual, required: TENSOR_MEMORY_ROWS });
    }
    let in_word = log2((32 / element_bits).max(1));
    let words = layout.bases(Dim::Col).iter().enumerate().skip(in_word);
    match words
        .map(|(bit, basis)| (bit - in_word, basis))
        .find(|(_, basis)| basis.iter().all(|&part| part == 0))
    {
        None => Ok(()),
        Some((bit, _)) => Err(LayoutError::TensorMemoryCopies { column: 1 << bit }),
    }
}

/// The 32-bit columns that a layout's tensor is allocated: a power of two from 32 to 512.
///
/// ```
/// use kernel_layout::forms::{tensor_memory, tensor_memory_columns};
/// assert_eq!(tensor_memory_columns(&tensor_memory([128, 64], 1, false, &[128, 64])?, 16)?, 32);
/// assert_eq!(tensor_memory_columns(&tensor_memory([128, 64], 2, false, &[128, 64])?, 16)?, 64);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// When the tensor needs more columns than there are, or an element does not have 8, 16 or 32 bits.
pub fn tensor_memory_columns(layout: &Layout, element_bits: u32) -> Result<u32, LayoutError> {
    check_one_of("element bits", element_bits, &[8, 16, 32])?;
    let actual = layout.in_size(Dim::Col).div_ceil(32 / element_bits).max(32);
    if actual <= TENSOR_MEMORY_COLUMNS {
        Ok(actual)
    } else {
        Err(LayoutError::TensorMemoryColumns { actual, limit: TENSOR_MEMORY_COLUMNS })
    }
}
