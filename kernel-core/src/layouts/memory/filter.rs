//! Loads over the places of a filter: which map they need, and where in shared memory the channels are.
//!
//! One instruction brings the channels of up to 1024 places of the filter, each of which is a row of shared memory, no wider than the swizzle
//! (CUDA driver API, `cuTensorMapEncodeIm2col`; PTX ISA, "cp.async.bulk.tensor": `.im2col`). A tile of 128 places and 128 channels of `bf16` in
//! the swizzle of 128 bytes is two columns of such boxes: place p of column c is at 128·p + 16384·c.
//!
//! The map has the bounds of the first taps of all places: those begin `lower` elements from the first element of an axis, and end `upper`
//! elements from the last one. It does not have the taps. How far a tap is from the first one is an operand of the instruction.

use super::gather::{Columns, RowsPlan};
use super::tma::{
    MapDim, MapExtent, MapStride, Padding, Places, Planning, TensorMap, TmaRefusal, preferred,
    tensor,
};
use crate::ir::{Tma, Value};
use crate::layouts::SharedLayout;
use crate::layouts::known::stride;
use crate::layouts::shared::{whole_window, window_of};

impl Planning<'_> {
    /// The plan of a load or a prefetch over the places of a filter, whose operands are `args`.
    ///
    /// # Errors
    /// If no map does it, with the reason.
    pub fn by_places(&self, tma: Tma, args: &[Value]) -> Result<RowsPlan, TmaRefusal> {
        let (dtype, rank) = tensor(self.kernel, tma.param);
        let operands = tma.operands(rank, args);
        let param = &self.kernel.params[tma.param as usize];
        let block = param.block.as_deref().expect("a map with a filter has a block");
        let tile = [block[0], block[rank - 1]];
        let bits = dtype.bytes() * 8;
        let window = operands.window.map(|window| window_of(self.kernel, window));
        let wanted = |swizzle| preferred(&tile, dtype.bytes(), swizzle);
        let layout = match window {
            None => wanted(param.map.swizzle_bytes),
            Some(window) => {
                let whole = whole_window(&self.layouts[window.root], &window.shape, dtype.bytes())
                    .map(|layout| layout.reshape(&tile))
                    .ok_or(TmaRefusal::Part)?;
                if let Some(required) = param.map.swizzle_bytes
                    && wanted(Some(required)) != whole
                {
                    let actual = SharedLayout::of(self.kernel, window.root, &whole);
                    return Err(TmaRefusal::Swizzle { required, actual });
                }
                whole
            }
        };
        self.begins_at_a_unit(operands.coordinates[rank - 1], dtype)?;
        let actual = || match window {
            Some(window) => SharedLayout::of(self.kernel, window.root, &layout),
            None => Box::new(SharedLayout { layout: layout.clone(), form: None }),
        };
        let lines = super::gather::lines(&layout, tile, bits, actual)?;
        let axis_of = |axis: usize| u32::try_from(axis).expect("a tensor has few axes");
        let dims = (0..rank).rev().map(|axis| MapDim {
            extent: MapExtent::Axis { axis: axis_of(axis), divide: 1 },
            stride: match stride(self.kernel, tma.param, axis_of(axis)).map(u64::try_from) {
                Some(Ok(known)) => MapStride::Elements(known),
                Some(Err(_)) | None => MapStride::Axis { axis: axis_of(axis), times: 1 },
            },
            box_elems: if axis + 1 == rank { lines.columns } else { 1 },
            element_stride: match axis {
                0 => 1,
                _ => param.map.filter.get(axis - 1).map_or(1, |filter| filter.stride),
            },
        });
        let filter = || param.map.filter.iter().rev();
        let map = TensorMap {
            param: tma.param,
            dtype,
            padding: Padding::None,
            dims: dims.collect(),
            places: Some(Places {
                count: tile[0],
                lower: filter().map(|axis| axis.first()).collect(),
                upper: filter().map(|axis| axis.last()).collect(),
            }),
            swizzle_bytes: lines.swizzle_bytes,
            fill: param.map.fill,
            l2_promotion_bytes: param.map.l2_promotion_bytes,
            written: false,
        };
        let columns = (0..tile[1] / lines.columns).map(|index| Columns {
            first: index * lines.columns,
            offset_bytes: index * tile[0] * lines.pitch_bytes,
        });
        Ok(RowsPlan { map, pitch_bytes: lines.pitch_bytes, columns: columns.collect() })
    }
}
