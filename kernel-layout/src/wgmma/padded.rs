//! Padded numbers narrower than a byte: eight bytes of FP4 or twelve of FP6, and padding up to sixteen.

use super::{Major, Nearest, Operand, Refusal, operand};
use crate::{Dim, Form, Layout};

/// The numbers that are together, and the bytes that they take up.
const UNIT: u32 = 16;
/// The bits of an offset within the eight bytes of sixteen FP4 numbers.
const WITHIN: usize = 3;

/// Like [`tcgen05_operand`](super::tcgen05_operand), for a tile whose elements hold several numbers: each group of sixteen
/// numbers fills the first of sixteen bytes. It is an operand of `.kind::f8f6f4` and `.kind::mxf8f6f4` (PTX ISA,
/// "tcgen05.mma: Packing formats used in shared memory"). The axis that is not `mn_axis` is K, along which the numbers
/// are. Elements of two numbers, pairs of FP4, are bytes; eight of them fill the first half of sixteen bytes. Elements of
/// sixteen numbers take up sixteen bytes.
///
/// The operand counts K in numbers, not in elements: for an instruction, a number takes a byte.
///
/// ```
/// use kernel_layout::forms::nvmma_shared;
/// use kernel_layout::wgmma::{padded_operand, tcgen05_operand};
/// // 128 rows of 128 numbers, and of 128 bytes.
/// let (fours, eights) = (nvmma_shared(128, 8, false, true, &[128, 64])?, nvmma_shared(128, 8, false, false, &[128, 128])?);
/// assert_eq!(padded_operand(&fours, 2, 0, 128), tcgen05_operand(&eights, 1, 0, 128));
/// // Rows of eight elements of sixteen numbers.
/// let sixes = nvmma_shared(128, 128, false, false, &[128, 8])?;
/// assert_eq!(padded_operand(&sixes, 16, 0, 128), tcgen05_operand(&eights, 1, 0, 128));
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// See [`Refusal`].
pub fn padded_operand(
    layout: &Layout,
    numbers: u32,
    mn_axis: usize,
    mn_instruction: u32,
) -> Result<Operand, Refusal> {
    if layout.tensor_rank() != 2 || mn_axis > 1 {
        return Err(Refusal::Rank { actual: layout.outs().len(), required: 2 });
    }
    let read = as_numbers(layout, numbers, 1 - mn_axis)
        .ok_or(Refusal::NotOnePlaceEach)
        .and_then(|seen| operand(&seen, 1, mn_axis, mn_instruction));
    match read {
        Ok(read) if read.major == Major::K => Ok(read),
        Ok(_) | Err(Refusal::Bases { .. } | Refusal::MnMajor { .. } | Refusal::NotOnePlaceEach) => {
            Err(refusal(layout, numbers, mn_axis))
        }
        Err(other) => Err(other),
    }
}

/// The layout for instructions: a byte for each number.
fn as_numbers(layout: &Layout, numbers: u32, k_axis: usize) -> Option<Layout> {
    let along_k = |at: u32| -> Vec<u32> {
        let place = |axis| if axis == k_axis { at } else { 0 };
        (0..layout.outs().len()).map(place).collect()
    };
    let mut beyond = layout.bases(Dim::Offset);
    if numbers < UNIT {
        // Half of the sixteen bytes has elements.
        let (within, after) = beyond.split_at_checked(UNIT.ilog2() as usize)?;
        let mut required: Vec<_> = (0..WITHIN).map(|bit| along_k(1 << bit)).collect();
        required.push(along_k(0));
        if *within != required[..] {
            return None;
        }
        beyond = after;
    }
    let mut seen: Vec<_> = (0..UNIT.ilog2()).map(|bit| along_k(1 << bit)).collect();
    seen.extend(beyond.iter().map(|basis| {
        let mut basis = basis.clone();
        basis[k_axis] *= numbers;
        basis
    }));
    let outs = layout.out_dims().map(|dim| {
        let size = layout.out_size(dim);
        (dim, if dim == Dim::axis(k_axis) { numbers * size } else { size })
    });
    Layout::new(vec![(Dim::Offset, seen)], outs.collect()).ok()
}

/// The refusal of a layout, compared with the padded one of its tile.
fn refusal(layout: &Layout, numbers: u32, mn_axis: usize) -> Refusal {
    let form = Form::NvmmaShared {
        swizzle_bytes: 128,
        element_bits: if numbers < UNIT { 8 } else { 8 * UNIT },
        transposed: mn_axis == 1,
        fp4_padded: numbers < UNIT,
    };
    let required = form.to_layout(&layout.shape()).ok();
    match required.and_then(|required| layout.mismatch(&required)) {
        Some(mismatch) => Refusal::Bases { nearest: Box::new(Nearest { form, mismatch }) },
        None => Refusal::NotOnePlaceEach,
    }
}

#[cfg(test)]
mod tests {
    use super::padded_operand;
    use crate::forms::nvmma_shared;
    use crate::wgmma::{Refusal, descriptor};

    /// An instruction further along is 32 numbers, 32 bytes of padded memory; 128 of them fill a row of the swizzle, after which the next
    /// column of rows begins.
    #[test]
    fn instructions_begin_32_bytes_apart() {
        let tile = nvmma_shared(128, 8, false, true, &[64, 128]).expect("there is such a layout");
        let read = padded_operand(&tile, 2, 0, 64).expect("it is padded");
        let starts = [0, 32, 64, 96, 128, 160].map(|k| read.start_bytes(0, k));
        assert_eq!(starts, [0, 32, 64, 96, 64 * 128, 64 * 128 + 32]);
        // Groups of 8 rows are 1024 bytes apart.
        assert_eq!(descriptor(&read), 0x4000_0040_0000_0000);
    }

    #[test]
    fn what_is_not_padded_along_the_depth_is_refused() {
        let of = |padded, shape: &[u32]| {
            nvmma_shared(128, 8, false, padded, shape).expect("there is such a layout")
        };
        assert!(matches!(
            padded_operand(&of(false, &[64, 128]), 2, 0, 64),
            Err(Refusal::Bases { .. })
        ));
        // Numbers that are contiguous along the columns of the right factor.
        assert!(padded_operand(&of(true, &[64, 128]), 2, 1, 128).is_err());
    }
}
