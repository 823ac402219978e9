//! The map of a gather or a scatter, and where in shared memory its rows are.
//!
//! The box of such a map is one row, as wide as the swizzle (CUDA driver API, `cuTensorMapEncodeTiled`; PTX ISA, "cp.async.bulk.tensor":
//! `.tile::gather4`); an instruction puts four of them one after the other. A tile of 128 rows of 128 `f32` in the swizzle of 128 bytes
//! is four columns of boxes: row r of column c is at 128·r + 16384·c.

use kernel_layout::Dim;
use kernel_layout::forms::{nvmma_shared, row_major_shared};
use kernel_layout::tma::{Declined, Rule};

use super::{
    BOX_ELEMENTS, MapDim, MapExtent, MapStride, PaddedRefusal, Padding, Planning, TensorMap,
    TmaRefusal,
};
use super::{preferred, tensor};
use crate::ir::{Tma, Value};
use crate::layouts::SharedLayout;
use crate::layouts::known::stride;
use crate::layouts::shared::{whole_window, window_of};

/// How a gather or a scatter is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowsPlan {
    /// The map.
    pub map: TensorMap,
    /// From one row to the next in shared memory.
    pub pitch_bytes: u32,
    /// The parts of a row, each for an instruction of its own.
    pub columns: Vec<Columns>,
}

/// A part of the rows: as many columns as a box has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// The first one, from that of the operation on.
    pub first: u32,
    /// Where its part of row 0 starts in the window, in bytes.
    pub offset_bytes: u32,
}

impl Planning<'_> {
    /// The plan of a gather or a scatter, whose operands are `args`.
    ///
    /// # Errors
    /// Where no map does it, with the reason.
    pub fn by_rows(&self, tma: Tma, args: &[Value]) -> Result<RowsPlan, TmaRefusal> {
        let (dtype, rank) = tensor(self.kernel, tma.param);
        let operands = tma.operands(rank, args);
        let window = operands.window.expect("ir::verify requires a window of a gather");
        let window = window_of(self.kernel, window);
        if let Some(packing) = super::padded::packing(self.kernel, window.root) {
            return Err(TmaRefusal::Padded(packing, PaddedRefusal::ByRows));
        }
        let element_bytes = dtype.bytes();
        let (rows, columns) = (window.shape[0], window.shape[1]);
        let options = &self.kernel.params[tma.param as usize].map;
        let layout = whole_window(&self.layouts[window.root], &window.shape, element_bytes)
            .ok_or(TmaRefusal::Part)?;
        let actual = || SharedLayout::of(self.kernel, window.root, &layout);
        let required = preferred(&window.shape, element_bytes, options.swizzle_bytes);
        if let Some(swizzle) = options.swizzle_bytes
            && required != layout
        {
            return Err(TmaRefusal::Swizzle { required: swizzle, actual: actual() });
        }
        let unit = u64::from(super::MAP_BYTES / element_bytes);
        if let Some(at) = self.known.constant(operands.coordinates[1])
            && at.rem_euclid(unit.into()) != 0
        {
            let bytes = at.rem_euclid(unit.into()) * i128::from(element_bytes);
            return Err(TmaRefusal::Rule {
                rule: Rule::InnerCoordinate,
                required: super::MAP_BYTES.into(),
                actual: u64::try_from(bytes).expect("less than 16"),
            });
        }
        let is = |swizzle: &u32| {
            nvmma_shared(*swizzle, element_bytes * 8, false, false, &window.shape)
                .is_ok_and(|form| form == layout)
        };
        let row_bytes = columns * element_bytes;
        let swizzle = [128, 64, 32].into_iter().filter(|bytes| *bytes <= row_bytes).find(is);
        let plain = row_major_shared(&window.shape).is_ok_and(|form| form == layout);
        let pitch_bytes = match swizzle {
            Some(swizzle) => swizzle,
            None if plain && columns <= BOX_ELEMENTS => row_bytes,
            None => {
                let declined = if plain {
                    Declined::Map {
                        rule: Rule::BoxDim,
                        dim: Some(0),
                        required: BOX_ELEMENTS.into(),
                        actual: columns.into(),
                    }
                } else {
                    Declined::Swizzle { actual: layout.to_string() }
                };
                let widest = [32, 64, 128].into_iter().filter(|bytes| *bytes <= row_bytes);
                return Err(TmaRefusal::Layout {
                    actual: actual(),
                    required_swizzle_bytes: widest.max().unwrap_or(0),
                    declined: Box::new(declined),
                });
            }
        };
        let box_columns = pitch_bytes / element_bytes;
        let at = |axis| match stride(self.kernel, tma.param, axis).map(u64::try_from) {
            Some(Ok(known)) => MapStride::Elements(known),
            Some(Err(_)) | None => MapStride::Axis { axis, times: 1 },
        };
        if let MapStride::Elements(actual) = at(1)
            && actual != 1
        {
            return Err(TmaRefusal::Rule { rule: Rule::InnerStride, required: 1, actual });
        }
        let dim = |axis, box_elems| MapDim {
            extent: MapExtent::Axis { axis, divide: 1 },
            stride: at(axis),
            box_elems,
            element_stride: 1,
        };
        let map = TensorMap {
            param: tma.param,
            dtype,
            padding: Padding::None,
            dims: vec![dim(1, box_columns), dim(0, 1)],
            swizzle_bytes: swizzle.unwrap_or(0),
            fill: options.fill,
            l2_promotion_bytes: options.l2_promotion_bytes,
            written: tma.kind.reads_shared(),
        };
        debug_assert!(
            layout.out_size(Dim::axis(0)) == rows,
            "the window's layout is one of its extents"
        );
        let columns = (0..columns / box_columns).map(|index| Columns {
            first: index * box_columns,
            offset_bytes: index * rows * pitch_bytes,
        });
        Ok(RowsPlan { map, pitch_bytes, columns: columns.collect() })
    }
}
