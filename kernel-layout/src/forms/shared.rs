//! Layouts of shared memory: from offset, in elements, to the element stored there.

use super::blocked::{check_dims, check_surjective};
use super::{
    check_one_of, check_order, check_powers, check_shape, identity_nd, innermost_first,
    outermost_first,
};
use crate::layout::log2;
use crate::{Dim, Layout, LayoutError};

/// The elements in row-major order, the last axis fastest.
///
/// ```
/// use kernel_layout::forms::row_major_shared;
/// use kernel_layout::Dim;
/// assert_eq!(row_major_shared(&[2, 4])?.bases(Dim::Offset), [[0, 1], [0, 2], [1, 0]]);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// When a size is not a power of two.
pub fn row_major_shared(shape: &[u32]) -> Result<Layout, LayoutError> {
    check_shape(shape)?;
    Ok(identity_nd(Dim::Offset, shape, &innermost_first(shape.len())))
}

/// A layout of shared memory given as bases; its tensor must have the shape that they are written for.
///
/// # Errors
/// When the shape differs, `literal` has inputs other than `Offset` and `Block`, or some element is stored nowhere.
pub fn shared_linear(literal: &Layout, shape: &[u32]) -> Result<Layout, LayoutError> {
    check_dims(literal, &[Dim::Offset, Dim::Block])?;
    if literal.shape() != shape {
        return Err(LayoutError::Shape { actual: literal.shape(), required: shape.to_vec() });
    }
    check_surjective(literal)?;
    Ok(literal.clone())
}

/// Rows along the fastest axis `order[0]`, whose groups of `vec` elements are exchanged from row to row.
///
/// Row `r` (along `order[1]`) of `c` columns stores group `j` at group `j ^ (r / per_phase % max_phase)`: the basis of
/// row bit `r` is `(r, vec·(r / per_phase % max_phase) % c)`. Further axes follow in `order`.
///
/// ```
/// use kernel_layout::forms::swizzled_shared;
/// use kernel_layout::Dim;
/// let layout = swizzled_shared(8, 2, 4, &[1, 0], &[16, 32])?;
/// assert_eq!(layout.bases(Dim::Offset)[5..], [[1, 0], [2, 8], [4, 16], [8, 0]]);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// When a parameter or size is not a power of two, or `order` does not name every axis once.
pub fn swizzled_shared(
    vec: u32,
    per_phase: u32,
    max_phase: u32,
    order: &[u32],
    shape: &[u32],
) -> Result<Layout, LayoutError> {
    check_order(order, shape.len())?;
    check_shape(shape)?;
    check_powers("swizzle", &[vec, per_phase, max_phase])?;
    let plain = identity_nd(Dim::Offset, shape, order);
    let [columns, rows, ..] = order else { return Ok(plain) };
    let (columns, rows) = (*columns as usize, *rows as usize);
    let mut bases = plain.bases(Dim::Offset).to_vec();
    let first_row = log2(shape[columns]);
    for (bit, basis) in bases.iter_mut().skip(first_row).take(log2(shape[rows])).enumerate() {
        let row = 1_u32 << bit;
        // Wrapping is harmless: only the bits below the number of columns count.
        basis[columns] = vec.wrapping_mul(row / per_phase % max_phase) % shape[columns];
    }
    Layout::new(vec![(Dim::Offset, bases)], plain.outs().to_vec())
}

/// The bytes over which the hardware's swizzles repeat, and 0 for none.
const SWIZZLES: &[u32] = &[0, 32, 64, 128];
/// The element sizes of a tile that is copied by TMA or read by the tensor core.
const ELEMENT_BITS: &[u32] = &[8, 16, 32, 64, 128];
/// The most elements along one side of the box of one TMA instruction (CUDA driver API, `cuTensorMapEncodeTiled`).
const TMA_BOX: u32 = 256;

/// The layout that TMA writes and the tensor core reads, with the hardware's swizzle.
///
/// With `swizzle_bytes` S of 32, 64 or 128, an atom is 8 rows of S bytes, in which the index of a 16-byte chunk is
/// changed by XOR with `row / (128/S)`, modulo the number of chunks (PTX ISA, "Swizzling modes"). A tile wider than S bytes is
/// several columns of atoms; all rows of one come before the next, since each is one TMA box. With S = 0 the box is
/// row-major. Boxes have at most 256 elements along an axis. The leading axes count as rows; with `transposed`, axis 0
/// is the contiguous one and the others count as rows. With `fp4_padded`, every 16 bytes hold 8 bytes of data and 8 of
/// padding, so that the basis of offset 8 is zero.
///
/// ```
/// use kernel_layout::forms::nvmma_shared;
/// use kernel_layout::Dim;
/// let layout = nvmma_shared(128, 16, false, false, &[8, 64])?;
/// assert_eq!(layout.bases(Dim::Offset)[..6], [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]]);
/// assert_eq!(layout.bases(Dim::Offset)[6..], [[1, 8], [2, 16], [4, 32]]);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// When the swizzle or the element size is not a possible value, a size is not a power of two, `fp4_padded` is
/// requested for elements that do not have 8 bits or without a swizzle, the shape is empty, or the tile is smaller than
/// one atom.
pub fn nvmma_shared(
    swizzle_bytes: u32,
    element_bits: u32,
    transposed: bool,
    fp4_padded: bool,
    shape: &[u32],
) -> Result<Layout, LayoutError> {
    check_one_of("swizzle", swizzle_bytes, SWIZZLES)?;
    check_one_of("element bits", element_bits, ELEMENT_BITS)?;
    if fp4_padded {
        check_one_of("element bits of a padded tile", element_bits, &[8])?;
        check_one_of("swizzle of a padded tile", swizzle_bytes, &[32, 64, 128])?;
    }
    check_shape(shape)?;
    if shape.is_empty() {
        return Err(LayoutError::Rank { what: "shape", actual: 0, required: 1 });
    }
    // The axes as rows and one contiguous axis, which is moved to the end.
    let mut order = outermost_first(shape.len());
    if transposed {
        order.rotate_left(1);
    }
    let turned: Vec<u32> = order.iter().map(|&axis| shape[axis as usize]).collect();
    let layout = if swizzle_bytes == 0 {
        unswizzled(&turned)
    } else {
        swizzled_boxes(swizzle_bytes, element_bits, fp4_padded, &turned)?
    };
    // Axis `order[i]` of the tensor is axis `i` of the layout so far.
    let mut back = vec![0; order.len()];
    for (index, &axis) in (0..).zip(&order) {
        back[axis as usize] = index;
    }
    Ok(layout.permute_axes(&back))
}

/// Boxes in row-major order, each row-major.
fn unswizzled(shape: &[u32]) -> Layout {
    let tma_box: Vec<u32> = shape.iter().map(|&size| size.min(TMA_BOX)).collect();
    let order = innermost_first(shape.len());
    identity_nd(Dim::Offset, &tma_box, &order).fit(shape, &order)
}

/// One box per column of atoms, the last axis being the contiguous one.
fn swizzled_boxes(
    swizzle_bytes: u32,
    element_bits: u32,
    fp4_padded: bool,
    shape: &[u32],
) -> Result<Layout, LayoutError> {
    let atom = swizzle_atom(swizzle_bytes, element_bits, fp4_padded);
    let columns = atom.out_size(Dim::Axis(1));
    let mut tma_box: Vec<u32> = shape.iter().map(|&size| size.min(TMA_BOX)).collect();
    let last = tma_box.len() - 1;
    tma_box[last] = columns;
    let rows = 1 << tma_box[..last].iter().map(|&size| log2(size)).sum::<usize>();
    if shape[last] < columns || rows < 8 {
        return Err(LayoutError::SwizzleAtom {
            actual: [rows, shape[last]],
            required: [8, columns],
        });
    }
    let one_box = atom.fit(&[rows, columns], &[0, 1]).reshape(&tma_box);
    Ok(one_box.fit(shape, &outermost_first(shape.len())))
}

/// The 8 rows over which a swizzle repeats; axis 1 is contiguous.
fn swizzle_atom(swizzle_bytes: u32, element_bits: u32, fp4_padded: bool) -> Layout {
    let stored = swizzle_bytes * 8 / element_bits;
    let chunk = 128 / element_bits;
    // 128 bytes pass through all banks: this many rows share a phase, and there are this many phases.
    let (per_phase, phases) = (128 / swizzle_bytes, swizzle_bytes / 16);
    // Where half of every 16 bytes is padding, they are 8 columns.
    let column = |at: u32| if fp4_padded { at / 16 * 8 + at % 8 } else { at };
    let mut bases: Vec<Vec<u32>> = (0..log2(stored)).map(|bit| vec![0, column(1 << bit)]).collect();
    for row in [1, 2, 4] {
        bases.push(vec![row, column(chunk * (row / per_phase % phases))]);
    }
    let columns = if fp4_padded { stored / 2 } else { stored };
    Layout::trusted(vec![(Dim::Offset, bases)], vec![(Dim::Axis(0), 8), (Dim::Axis(1), columns)])
}

/// The alignment in bytes that a tile of [`nvmma_shared`] needs: the period of the swizzle, and 128 without one.
///
/// PTX ISA, "Swizzling modes": the pattern is a function of the address bits, so a tile starts where the pattern
/// starts.
///
/// # Requires
/// `swizzle_bytes` is 0, 32, 64 or 128.
pub fn nvmma_alignment_bytes(swizzle_bytes: u32) -> u32 {
    assert!(SWIZZLES.contains(&swizzle_bytes), "there is no swizzle of {swizzle_bytes} bytes");
    (swizzle_bytes * 8).max(128)
}

/// The widest swizzle that a tile can have: 128, 64, 32 or 0 bytes.
///
/// It is 0 when there are fewer than 8 rows. A padded tile takes up twice the bytes of its elements.
///
/// ```
/// use kernel_layout::forms::default_swizzle_bytes;
/// assert_eq!(default_swizzle_bytes(&[128, 64], 16, false, false), 128);
/// assert_eq!(default_swizzle_bytes(&[128, 16], 16, false, false), 32);
/// assert_eq!(default_swizzle_bytes(&[4, 64], 16, false, false), 0);
/// ```
pub fn default_swizzle_bytes(
    shape: &[u32],
    element_bits: u32,
    transposed: bool,
    fp4_padded: bool,
) -> u32 {
    if shape.len() < 2 {
        return 0;
    }
    let contiguous = if transposed { 0 } else { shape.len() - 1 };
    let outer: u64 = shape
        .iter()
        .enumerate()
        .filter(|&(axis, _)| axis != contiguous)
        .map(|(_, &size)| u64::from(size))
        .product();
    let bits =
        u64::from(shape[contiguous]) * u64::from(element_bits) * if fp4_padded { 2 } else { 1 };
    let widest =
        [128_u32, 64, 32].into_iter().find(|&bytes| bits.is_multiple_of(u64::from(bytes) * 8));
    if outer < 8 { 0 } else { widest.unwrap_or(0) }
}
