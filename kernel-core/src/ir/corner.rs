//! Where in a tensor an operation accesses a tile.

/// The corner of a tile of a tensor, as the operations on tensors have it among their operands: one position for each axis and, of a tile
/// of a slice, two more for each.
///
/// Every position counts from the origin of the tensor. The positions of a slice are within the tensor, and its end is not before its
/// beginning: whoever makes the operands sees to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corner<'v, T> {
    /// The position of the first element.
    pub at: &'v [T],
    /// Where the slice begins and ends: elements before the one and from the other on are as outside the tensor.
    pub slice: Option<[&'v [T]; 2]>,
}

impl<'v, T> Corner<'v, T> {
    /// The operands of an operation on a tensor of rank `rank` that are positions.
    pub fn of(operands: &'v [T], rank: usize) -> Corner<'v, T> {
        let (at, rest) = operands.split_at(rank.min(operands.len()));
        let slice = (!rest.is_empty()).then(|| rest.split_at(rank.min(rest.len())).into());
        Corner { at, slice }
    }
}
