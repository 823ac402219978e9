//! An unfinished map: dimensions are merged, and elements widened, until the map is legal or cannot be.

use super::plan::IssueAxis;
use super::validate::{BOX_LIMIT, EXTENT_LIMIT, validate};
use super::{Coordinate, Declined, Rule, Size, Step, Widening};
use crate::tile::SwizzleMode;

/// A dimension of a map, with the issues that step along it.
#[derive(Clone)]
pub(super) struct Dimension {
    /// In elements of the map.
    pub(super) extent: Size,
    /// In elements of the tensor.
    pub(super) stride: Step,
    /// In elements of the map.
    pub(super) box_elems: u64,
    /// In elements of the map.
    pub(super) coordinate: Coordinate,
    /// Outermost first; their `dim` is given when the plan is made.
    pub(super) issues: Vec<IssueAxis>,
}

/// A map that may not be legal yet; the innermost dimension first.
#[derive(Clone)]
pub(super) struct Map {
    pub(super) dims: Vec<Dimension>,
    pub(super) swizzle: SwizzleMode,
    /// The size of an element of the tensor.
    pub(super) tensor_bytes: u32,
    /// The size of an element of the map.
    pub(super) element_bytes: u32,
    pub(super) offset_bytes: u64,
    pub(super) widening: Widening,
}

/// The widest element of a map.
const ELEMENT_LIMIT: u32 = 8;

impl Map {
    /// The map with as few dimensions as possible, and elements as wide as they must be.
    ///
    /// # Errors
    /// The rule that it breaks with the original elements.
    pub(super) fn repaired(mut self) -> Result<Map, Declined> {
        let mut first = None;
        loop {
            self.shorten();
            let declined = match validate(&self) {
                Ok(()) => return Ok(self),
                Err(declined) => declined,
            };
            let widened = match declined.rule() {
                Some(
                    Rule::Rank | Rule::GlobalStrideAlignment | Rule::BoxDim | Rule::InnerBoxBytes,
                ) => self.widened(),
                Some(
                    Rule::GlobalDim
                    | Rule::GlobalStrideRange
                    | Rule::InnerStride
                    | Rule::SwizzleInnerBox
                    | Rule::SwizzlePitch
                    | Rule::InnerCoordinate
                    | Rule::SharedAlignment,
                )
                | None => None,
            };
            let first = first.get_or_insert(declined);
            self = widened.ok_or_else(|| first.clone())?;
        }
    }

    /// Leaves out dimensions of one element and merges those that step evenly.
    fn shorten(&mut self) {
        let mut at = 1;
        while at < self.dims.len() {
            let dim = &self.dims[at];
            let single = dim.extent == Size::Known(1) && dim.box_elems == 1;
            if single && dim.issues.is_empty() && dim.coordinate == Coordinate::ZERO {
                self.dims.remove(at);
            } else {
                at += 1;
            }
        }
        let mut inner = 0;
        while inner + 1 < self.dims.len() {
            if let Some(merged) = self.merged(inner) {
                self.dims.splice(inner..inner + 2, [merged]);
                inner = 0;
                continue;
            }
            if inner == 0
                && self.dims.len() > 2
                && let Some(wide) = self.widened()
                && wide.merged(0).is_some()
            {
                // Only the limit of the box can have stood against it.
                *self = wide;
                continue;
            }
            inner += 1;
        }
    }

    /// A dimension merged with the next one, if the box has all of the inner one and the outer one continues where it
    /// ends.
    fn merged(&self, inner: usize) -> Option<Dimension> {
        let (low, high) = (&self.dims[inner], &self.dims[inner + 1]);
        let size = low.extent.known()?;
        let whole = low.box_elems == size && low.coordinate == Coordinate::ZERO;
        if !whole || !low.issues.is_empty() || !high.issues.is_empty() {
            return None;
        }
        // One step of the map's innermost dimension may be several elements of the tensor.
        let elements = if inner == 0 { size.checked_mul(self.widening_factor())? } else { size };
        if low.stride.scaled(elements)? != high.stride {
            return None;
        }
        let box_elems = size.checked_mul(high.box_elems)?;
        let extent = high.extent.known()?.checked_mul(size)?;
        if box_elems > BOX_LIMIT || extent > EXTENT_LIMIT {
            return None;
        }
        let row_bytes = box_elems * u64::from(self.element_bytes);
        if inner == 0 && self.span_bytes().is_some_and(|span| row_bytes > span) {
            return None;
        }
        let coordinate = high.coordinate.scaled(size)?;
        let (extent, issues) = (Size::Known(extent), Vec::new());
        Some(Dimension { extent, stride: low.stride, box_elems, coordinate, issues })
    }

    /// The same bytes as elements twice as wide.
    fn widened(&self) -> Option<Map> {
        match self.widening {
            Widening::Allowed => {}
            Widening::Forbidden => return None,
        }
        let (inner, outer) = self.dims.split_first()?;
        if self.element_bytes == ELEMENT_LIMIT || !inner.box_elems.is_multiple_of(2) {
            return None;
        }
        // Instructions are whole boxes apart, so that a step has a half where the box has.
        let halved =
            |issue: &IssueAxis| IssueAxis { coordinate_step: issue.coordinate_step / 2, ..*issue };
        let half = Dimension {
            extent: inner.extent.divided(2)?,
            stride: inner.stride,
            box_elems: inner.box_elems / 2,
            coordinate: inner.coordinate.divided(2)?,
            issues: inner.issues.iter().map(halved).collect(),
        };
        // Strides are multiples of 16 bytes, which are whole elements of any width.
        let dims = std::iter::once(half).chain(outer.iter().cloned()).collect();
        Some(Map { dims, element_bytes: 2 * self.element_bytes, ..self.clone() })
    }

    /// How many elements of the tensor are one element of the map.
    fn widening_factor(&self) -> u64 {
        u64::from(self.element_bytes / self.tensor_bytes)
    }

    /// The bytes over which the swizzle repeats, if there is one.
    pub(super) fn span_bytes(&self) -> Option<u64> {
        match self.swizzle {
            SwizzleMode::None => None,
            SwizzleMode::B32 | SwizzleMode::B64 | SwizzleMode::B128 => {
                Some(self.swizzle.bytes().into())
            }
        }
    }
}
