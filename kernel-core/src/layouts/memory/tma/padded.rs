//! The map of a tile of padded numbers: eight or twelve bytes of the tensor, sixteen FP4 or FP6 numbers, become sixteen bytes of shared memory.
//!
//! Elements of such a map are numbers, of which an element of the tensor has several (CUDA driver API,
//! `CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B`). Its box has 128 of them, which fill a row of the swizzle of 128 bytes; a wider tile is several
//! columns of boxes. A tile of 128 x 64 elements `e2m1x2` is one box of 128 rows, one of 128 x 128 elements two.

use kernel_layout::Form;

use super::{
    BOX_ELEMENTS, MOST_INSTRUCTIONS, MapCoordinate, MapDim, MapExtent, MapStart, MapStride,
    Padding, Planning, TensorMap, TmaBox, TmaPlan, TmaRefusal, small, tensor,
};
use crate::ir::dtype::Packing;
use crate::ir::{Kernel, Shared, SharedType, Tma, TmaKind, Value};
use crate::layouts::known::stride;
use crate::layouts::shared::{tile_bytes, whole_window};

/// What a row of a box takes up in shared memory: the span of the swizzle.
const PITCH_BYTES: u32 = 128;
/// The numbers of a row of a box.
const ROW_NUMBERS: u32 = 128;
/// What strides are multiples of (CUDA driver API, `cuTensorMapEncodeTiled`: globalStrides).
pub(crate) const STRIDE_BYTES: u64 = 32;

/// What is not done with padded numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaddedRefusal {
    /// A copy to the tensor, or a reduction.
    Stored,
    /// A gather or a scatter.
    ByRows,
    /// The map is declared with another swizzle.
    Swizzle {
        /// Its span in bytes.
        actual: u32,
    },
    /// Neighbours are along another axis of the tensor than the last one.
    Turned {
        /// The axis.
        axis: u32,
    },
    /// Rows of the tensor begin elsewhere than those of a padding map.
    Stride {
        /// The bytes from one row to the next.
        actual: u64,
    },
    /// The copy begins within a row of a box.
    Column {
        /// The bytes of such a row of the tensor.
        required: u32,
        /// The bytes before the copy, less whole rows.
        actual: u32,
    },
}

/// How the numbers of an allocation are padded, if they are.
pub(crate) fn packing(kernel: &Kernel, root: Shared) -> Option<Packing> {
    let data = &kernel.shared[root];
    let padded = matches!(data.pinned, Some(Form::NvmmaShared { fp4_padded: true, .. }));
    data.dtype.row().packing.filter(|packing| padded || !packing.dense)
}

impl Planning<'_> {
    /// The plan of a copy to a window that is padded, which begins at `coordinates`.
    pub(super) fn padded(
        &self,
        tma: Tma,
        window: &SharedType,
        coordinates: &[Value],
    ) -> Result<TmaPlan, TmaRefusal> {
        let packing = packing(self.kernel, window.root).expect("a padded window");
        self.may_be_padded(tma, packing, window, coordinates)?;
        let (dtype, rank) = tensor(self.kernel, tma.param);
        let block = self.kernel.tma_block(tma, &window.shape);
        let inner = rank - 1;
        // The axis of the rows of the tile: the last one before the innermost that the tile has.
        let rows_axis = (0..inner).rev().find(|&axis| block[axis] != 1).unwrap_or(inner - 1);
        let (rows, columns) = (block[rows_axis], block[inner] * packing.numbers / ROW_NUMBERS);
        let box_rows = rows.min(BOX_ELEMENTS);
        let tiles: u32 = block[..rows_axis].iter().product();
        let count = u64::from(tiles) * u64::from(columns) * u64::from(rows / box_rows);
        if count > MOST_INSTRUCTIONS {
            let required_swizzle_bytes = PITCH_BYTES;
            return Err(TmaRefusal::Instructions { actual: count, required_swizzle_bytes });
        }
        let map = self.padding_map(tma.param, packing, (rows_axis, box_rows))?;
        let tile_bytes = tile_bytes(&self.layouts[window.root], dtype.shared_bytes());
        let log2_numbers = packing.numbers.trailing_zeros();
        let mut boxes = Vec::new();
        for tile in 0..tiles {
            for column in 0..columns {
                for first_row in (0..rows).step_by(box_rows as usize) {
                    let at = (0..rank).rev().map(|axis| {
                        let (elements, log2_times) = match axis {
                            _ if axis == inner => (column * ROW_NUMBERS, log2_numbers),
                            _ if axis == rows_axis => (first_row, 0),
                            _ => (place_along(&block, axis, rows_axis, tile), 0),
                        };
                        let plus = elements * map.dims[inner - axis].element_stride;
                        let axis = small(axis as u64);
                        let start = Some(MapStart { axis, log2_times, log2_divide: 0 });
                        MapCoordinate { plus: plus.cast_signed(), start }
                    });
                    boxes.push(TmaBox {
                        at: at.collect(),
                        offset_bytes: tile * tile_bytes + (column * rows + first_row) * PITCH_BYTES,
                    });
                }
            }
        }
        Ok(TmaPlan { map, boxes, ends: Vec::new() })
    }

    /// Whether a map pads what this copy brings.
    fn may_be_padded(
        &self,
        tma: Tma,
        packing: Packing,
        window: &SharedType,
        coordinates: &[Value],
    ) -> Result<(), TmaRefusal> {
        let refused = |refusal| Err(TmaRefusal::Padded(packing, refusal));
        match tma.kind {
            TmaKind::Load | TmaKind::Staged | TmaKind::Prefetch => {}
            TmaKind::Store | TmaKind::Reduce(_) => {
                return refused(PaddedRefusal::Stored);
            }
            TmaKind::Gather | TmaKind::Scatter => {
                return refused(PaddedRefusal::ByRows);
            }
        }
        let (dtype, rank) = tensor(self.kernel, tma.param);
        let layout = &self.layouts[window.root];
        if rank < 2 || whole_window(layout, &window.shape, dtype.shared_bytes()).is_none() {
            return Err(TmaRefusal::Part);
        }
        let declared = self.kernel.params[tma.param as usize].map.swizzle_bytes;
        if let Some(actual) = declared.filter(|&swizzle| swizzle != PITCH_BYTES) {
            return refused(PaddedRefusal::Swizzle { actual });
        }
        let inner = rank - 1;
        if self.contiguous(tma.param) != inner {
            let axis = small(self.contiguous(tma.param) as u64);
            return refused(PaddedRefusal::Turned { axis });
        }
        let row = ROW_NUMBERS / packing.numbers;
        let elements = self.known.rest(coordinates[inner], row).unwrap_or(0);
        if elements == 0 {
            return Ok(());
        }
        let bytes = dtype.bytes();
        refused(PaddedRefusal::Column { required: row * bytes, actual: elements * bytes })
    }

    /// The map, whose boxes are this many rows along an axis.
    fn padding_map(
        &self,
        param: u32,
        packing: Packing,
        (rows_axis, box_rows): (usize, u32),
    ) -> Result<TensorMap, TmaRefusal> {
        let (dtype, rank) = tensor(self.kernel, param);
        let options = &self.kernel.params[param as usize].map;
        let bytes = |elements: u64| elements * u64::from(dtype.bytes());
        let mut dims = Vec::new();
        for axis in (0..rank).rev() {
            let (place, inner) = (small(axis as u64), axis == rank - 1);
            let stride = match stride(self.kernel, param, place).map(u64::try_from) {
                Some(Ok(elements)) if !inner && !bytes(elements).is_multiple_of(STRIDE_BYTES) => {
                    let refusal = PaddedRefusal::Stride { actual: bytes(elements) };
                    return Err(TmaRefusal::Padded(packing, refusal));
                }
                Some(Ok(known)) => MapStride::Elements(known),
                Some(Err(_)) | None => MapStride::Axis { axis: place, times: 1 },
            };
            let (elements, element_stride) = if inner {
                (ROW_NUMBERS, 1)
            } else {
                (if axis == rows_axis { box_rows } else { 1 }, options.element_stride(axis))
            };
            dims.push(MapDim {
                extent: MapExtent::Axis { axis: place, divide: 1 },
                stride,
                box_elems: elements * element_stride,
                element_stride,
            });
        }
        Ok(TensorMap {
            param,
            dtype,
            padding: Padding::Padded(packing),
            dims,
            places: None,
            swizzle_bytes: PITCH_BYTES,
            fill: options.fill,
            l2_promotion_bytes: options.l2_promotion_bytes,
            written: false,
        })
    }
}

/// How far along an axis before the rows a tile of the block begins; the last such axis changes fastest.
fn place_along(block: &[u32], axis: usize, rows_axis: usize, tile: u32) -> u32 {
    if axis >= rows_axis {
        return 0;
    }
    let faster: u32 = block[axis + 1..rows_axis].iter().product();
    tile / faster % block[axis]
}
