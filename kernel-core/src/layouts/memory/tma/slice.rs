//! TMA copies of slices: the tensor map stays as the launch encodes it, and the coordinates say where the slice ends.
//!
//! The hardware drops what is at or after the extent of a dimension. So the dimension of a bounded axis has the extent of the tile, `t`, and
//! the copy begins as far before its end as the slice has elements left: of a tile of 64 rows of which the slice has 10, the copy begins at
//! coordinate 54. A second dimension with the same stride moves the tile to its place: its coordinate is the position at which what is left
//! ends. The sum of the two is `t` too large, and therefore the map begins `t` elements before the tensor.
//!
//! Rows of 64 `f16` of a slice, in tiles of 64 rows, with `left = clamp(end - at, 0, 64)`:
//!
//! | dimension | extent | stride | box | coordinate |
//! |---|---|---|---|---|
//! | 0 | columns | 1 | 64 | column |
//! | 1 | 64 | of the rows | 64 | `64 - left` |
//! | 2 | rows + 1 | of the rows | 1 | `at + left` |
//!
//! Nothing is written, waited for or passed on, in contrast to a map that the kernel encodes anew (`tensormap.replace`), which needs memory for
//! each block, a fence before each use, and a wait before the next slice while copies read it. What it costs is a dimension of the map
//! for each bounded axis, and that a copy does not begin before its slice (`schedule::bounds` sees to that): one coordinate bounds one
//! end. An axis along which the tile has one element takes no dimension. That element is within the slice or not, and
//! a copy that is not gets a coordinate that no tensor has.
//!
//! The driver takes maps that begin before the memory of their tensor. But a box without any element within the extents makes the hardware touch
//! the address at which its map begins (seen on an H100: illegal address where that is not mapped). So such a box goes by a second map, of one
//! element of the tensor, at a coordinate that is far outside.

use super::{
    MOST_DIMS, MapDim, MapExtent, Padding, Planning, TensorMap, TmaPlan, TmaRefusal, small,
};
use crate::ir::{Tma, Value};

/// Why no map bounds a tensor as a slice does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SliceRefusal {
    /// The slice bounds the axis along which elements are contiguous: the tile would begin anywhere in 16 bytes.
    Contiguous {
        /// The axis.
        axis: usize,
    },
    /// The map would have more dimensions than the hardware has.
    Dimensions {
        /// How many.
        actual: usize,
        /// How many of them are for ends of the slice.
        ends: usize,
    },
}

impl TensorMap {
    /// The map by which boxes go that have no element of their tensor: it begins at the tensor.
    pub(crate) fn of_no_element(&self) -> TensorMap {
        let mut map = self.clone();
        for dim in &mut map.dims {
            dim.extent = MapExtent::Const(1);
        }
        // Rows that are written are multiples of 16 bytes, and those of padded numbers of 128 numbers.
        map.dims[0].extent = MapExtent::Const(match self.padding {
            Padding::None if self.written => u64::from(16 / self.dtype.bytes()),
            Padding::None => 1,
            Padding::Padded(_) => 128,
        });
        map
    }
}

impl Planning<'_> {
    /// The plan of the same copy of a slice.
    pub(super) fn within_slice(
        &self,
        tma: Tma,
        args: &[Value],
        mut plan: TmaPlan,
    ) -> Result<TmaPlan, TmaRefusal> {
        if tma.slice.is_empty() {
            return Ok(plan);
        }
        let rank = self.kernel.params[tma.param as usize].kind.rank() as usize;
        let window = tma.operands(rank, args).window;
        let window = window.map(|window| crate::layouts::shared::window_of(self.kernel, window));
        let shape: &[u32] = window.map_or(&[], |window| &window.shape);
        let block = self.kernel.tma_block(tma, shape);
        for axis in tma.slice.axes().filter(|&axis| block[axis] > 1) {
            let number = small(axis as u64);
            let own = |dim: &&mut MapDim| dim.extent == MapExtent::Axis { axis: number, divide: 1 };
            let dim = plan.map.dims.iter_mut().find(own);
            let dim = dim.expect("an axis that is not split is a dimension of the map");
            let elements = block[axis] * dim.element_stride;
            dim.extent = MapExtent::Tile { axis: number, elements };
            let extent = MapExtent::Ends { axis: number, elements };
            plan.ends.push(axis);
            let end = MapDim { extent, stride: dim.stride, box_elems: 1, element_stride: 1 };
            plan.map.dims.push(end);
        }
        let (actual, ends) = (plan.map.dims.len(), plan.ends.len());
        if actual > MOST_DIMS {
            return Err(TmaRefusal::Slice(SliceRefusal::Dimensions { actual, ends }));
        }
        Ok(plan)
    }
}
