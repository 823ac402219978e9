//! A plan: the map, and the instructions that use it.

use super::map::Map;
use super::{Coordinate, Size, Step};
use crate::tile::SwizzleMode;

/// The plan of a copy: a tensor map, and instructions that differ in coordinates and shared address.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Plan {
    /// The dimensions of the map, innermost first: 1 to 5.
    pub dims: Vec<MapDim>,
    /// The swizzle of the map.
    pub swizzle: SwizzleMode,
    /// The size of an element of the map: that of the tensor, or a multiple of it.
    pub element_bytes: u32,
    /// The axes of the further instructions, outermost first; none if one instruction copies everything.
    pub issues: Vec<IssueAxis>,
    /// The start of the tile, from the address to which its layout is relative.
    pub shared_offset_bytes: u64,
}

/// A dimension of a map.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MapDim {
    /// Its extent, in elements of the map.
    pub extent: Size,
    /// Its stride, in elements of the tensor; that of the innermost dimension must turn out to be 1.
    pub stride: Step,
    /// The extent of the box, in elements of the map: 1 to 256.
    pub box_elems: u32,
    /// Where the first instruction's box begins, in elements of the map.
    pub coordinate: Coordinate,
}

/// An axis that instructions step along.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IssueAxis {
    /// How many steps it has.
    pub count: u64,
    /// The dimension of the map whose coordinate changes.
    pub dim: usize,
    /// How much it changes, in elements of the map.
    pub coordinate_step: u64,
    /// How much the shared address changes, in bytes, before the swizzle.
    pub shared_bytes: u64,
}

/// One instruction of a plan.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Issue {
    /// Its coordinates, in the order of the map's dimensions.
    pub coordinates: Vec<Coordinate>,
    /// Its shared address, in bytes from the address to which the tile's layout is relative.
    pub shared_bytes: u64,
}

impl Plan {
    pub(super) fn of(map: Map, shared_offset_bytes: u64) -> Plan {
        let mut issues = Vec::new();
        for (dim, dimension) in map.dims.iter().enumerate() {
            issues.extend(dimension.issues.iter().map(|&issue| IssueAxis { dim, ..issue }));
        }
        issues.sort_by_key(|issue| std::cmp::Reverse(issue.shared_bytes));
        let dims = map.dims.into_iter().map(|dim| MapDim {
            extent: dim.extent,
            stride: dim.stride,
            box_elems: u32::try_from(dim.box_elems).expect("`validate` allows at most 256"),
            coordinate: dim.coordinate,
        });
        Plan {
            dims: dims.collect(),
            swizzle: map.swizzle,
            element_bytes: map.element_bytes,
            issues,
            shared_offset_bytes,
        }
    }

    /// How many instructions there are.
    pub fn instructions(&self) -> u64 {
        self.issues.iter().map(|issue| issue.count).product()
    }

    /// The bytes that one instruction moves and counts on its barrier, even those outside the tensor.
    pub fn box_bytes(&self) -> u64 {
        let elements: u64 = self.dims.iter().map(|dim| u64::from(dim.box_elems)).product();
        elements * u64::from(self.element_bytes)
    }

    /// The bytes that all instructions move.
    pub fn bytes(&self) -> u64 {
        self.box_bytes() * self.instructions()
    }

    /// An instruction, counted from 0; the innermost issue axis changes fastest.
    ///
    /// # Requires
    /// `index` is below [`Plan::instructions`].
    pub fn issue(&self, index: u64) -> Issue {
        let count = self.instructions();
        assert!(index < count, "instruction {index} lies outside a plan of {count}");
        let mut issue = Issue {
            coordinates: self.dims.iter().map(|dim| dim.coordinate).collect(),
            shared_bytes: self.shared_offset_bytes,
        };
        let mut rest = index;
        for axis in self.issues.iter().rev() {
            let step = rest % axis.count;
            rest /= axis.count;
            issue.coordinates[axis.dim].plus += (step * axis.coordinate_step).cast_signed();
            issue.shared_bytes += step * axis.shared_bytes;
        }
        issue
    }
}
