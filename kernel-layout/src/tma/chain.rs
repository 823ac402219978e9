//! From the layouts to the dimensions of a map: windows of digits, pieces of the tile, their chain, boxes.

use super::map::{Dimension, Map};
use super::plan::IssueAxis;
use super::tensor::stride_in_memory;
use super::validate::BOX_LIMIT;
use super::{Coordinate, Declined, Digit, Number, Size, Start, Step, TileCopy, Way};
use crate::tile::{Scopes, SwizzleMode, TileAxis};

/// The part of the window in one digit of the tensor.
struct Window {
    axis: usize,
    digit: Digit,
    /// Where it begins, in steps of the digit.
    start: Coordinate,
    /// How many steps it has.
    count: u64,
    /// Its pieces of the tile, outermost first; none for a single step.
    pieces: Vec<Piece>,
}

/// A part of the tile that steps evenly in shared memory and along one digit.
#[derive(Clone, Copy)]
struct Piece {
    extent: u64,
    /// Its stride in shared memory, in elements.
    shared: u64,
    /// The steps of the digit that one step of the piece is.
    inner: u64,
    /// Its place in the chain; pieces beyond a gap have places beyond those of the chain.
    place: usize,
}

/// The pieces of a copy, in their order in shared memory.
pub(super) struct Chain {
    windows: Vec<Window>,
    way: Way,
    /// How many pieces follow one another from stride 1 on: at least one.
    linked: usize,
    offset_bytes: u64,
}

impl Chain {
    pub(super) fn of(copy: &TileCopy, way: Way) -> Result<Chain, Declined> {
        const SIZES: &[u32] = &[1, 2, 4, 8];
        let (tensor, shared) = (&copy.tensor, &copy.shared);
        let required = tensor.axes.len();
        for (what, actual) in [("starts", copy.starts.len()), ("extents", copy.extents.len())] {
            if actual != required {
                return Err(Declined::Rank { what, actual, required });
            }
        }
        if !SIZES.contains(&tensor.element_bytes) {
            return Err(Declined::ElementBytes { actual: tensor.element_bytes, allowed: SIZES });
        }
        let required = copy.extents.iter().fold(1_u64, |all, &size| all.saturating_mul(size));
        if shared.tile.size() != required {
            return Err(Declined::Elements { actual: shared.tile.size(), required });
        }
        let tile = shared.tile.canonicalize(Scopes::Kept);
        if let [_, ..] = tile.replica() {
            let actual = tile.replica().iter().map(|iter| iter.extent).product();
            return Err(Declined::Replicas { actual });
        }
        let mut windows = Vec::new();
        let axes = tensor.axes.iter().zip(copy.starts.iter().zip(&copy.extents));
        for (axis, (digits, (&start, &extent))) in axes.enumerate() {
            windows.extend(windows_of_axis(axis, digits, start, extent)?);
        }
        let counts: Vec<u64> =
            windows.iter().map(|window| window.count).filter(|&count| count > 1).collect();
        let (cut, separators) = tile.group_many(&[&counts])?;
        let ends = separators.first().map_or(&[][..], |separators| separators);
        let longer = windows.iter_mut().filter(|window| window.count > 1);
        for (window, ends) in longer.zip(ends.windows(2)) {
            let mut inner = 1;
            for iter in cut.shard()[ends[0]..ends[1]].iter().rev().filter(|iter| iter.extent > 1) {
                let piece =
                    Piece { extent: iter.extent, shared: stride_in_memory(iter)?, inner, place: 0 };
                let parts = match way {
                    Way::Whole | Way::Folded => [None, Some(piece)],
                    Way::Shortened => shortened(piece, copy),
                };
                window.pieces.extend(parts.into_iter().flatten().rev());
                inner *= iter.extent;
            }
            window.pieces.reverse();
        }
        let offset = tile.offset().get(&TileAxis::Memory).copied().unwrap_or(0);
        let offset = u64::try_from(offset).map_err(|_| crate::tile::TileError::NotLinear {
            axis: TileAxis::Memory,
            reason: "the offset is negative",
        })?;
        let offset_bytes = offset * u64::from(tensor.element_bytes);
        let linked = link(&mut windows, way)?;
        Ok(Chain { windows, way, linked, offset_bytes })
    }

    /// How many pieces a box can have.
    pub(super) fn len(&self) -> usize {
        self.linked
    }

    /// Where the tile begins.
    pub(super) fn offset_bytes(&self) -> u64 {
        self.offset_bytes
    }

    /// The map whose box has the first `selected` pieces.
    pub(super) fn map(&self, selected: usize, copy: &TileCopy) -> Result<Map, Declined> {
        let mut placed: Vec<(usize, Dimension)> = Vec::new();
        let mut single = Vec::new();
        for window in &self.windows {
            if window.pieces.is_empty() {
                single.push(Dimension {
                    extent: Size::of(window.digit.extent),
                    stride: Step::of(window.digit.stride),
                    box_elems: 1,
                    coordinate: window.start,
                    issues: Vec::new(),
                });
                continue;
            }
            let mut from = 0;
            for (at, piece) in window.pieces.iter().enumerate() {
                // Pieces outside the box go into the dimension of the next one in it.
                let ends = match self.way {
                    Way::Whole => true,
                    Way::Folded | Way::Shortened => piece.place < selected,
                };
                if ends || at + 1 == window.pieces.len() {
                    placed.push(dimension(window, from..at + 1, selected, copy)?);
                    from = at + 1;
                }
            }
        }
        placed.sort_by_key(|(place, _)| *place);
        let dims = placed.into_iter().map(|(_, dim)| dim).chain(single).collect();
        Ok(Map {
            dims,
            swizzle: copy.shared.swizzle,
            tensor_bytes: copy.tensor.element_bytes,
            element_bytes: copy.tensor.element_bytes,
            offset_bytes: self.offset_bytes,
            widening: copy.widening,
        })
    }
}

/// The dimension from some pieces of a window, of which the innermost may be in the box, and its place in the chain.
fn dimension(
    window: &Window,
    range: std::ops::Range<usize>,
    selected: usize,
    copy: &TileCopy,
) -> Result<(usize, Dimension), Declined> {
    let first = range.start == 0;
    let pieces = &window.pieces[range];
    let last = pieces.last().expect("a dimension is closed at a piece");
    let axis = window.axis;
    let too_large = || Declined::Layout(crate::tile::TileError::TooLarge { what: "a stride" });
    let (extent, coordinate) = if first {
        let coordinate = window.start.divided(last.inner).ok_or(Declined::Coordinate {
            axis,
            multiple_of: last.inner,
            actual: copy.starts[axis],
        })?;
        let extent = Size::of(window.digit.extent).divided(last.inner);
        let extent = extent.ok_or(Declined::Extent {
            axis,
            multiple_of: last.inner,
            actual: window.digit.extent,
        })?;
        (extent, coordinate)
    } else {
        (Size::Known(pieces.iter().map(|piece| piece.extent).product()), Coordinate::ZERO)
    };
    let stride = Step::of(window.digit.stride).scaled(last.inner).ok_or_else(too_large)?;
    let in_box = last.place < selected;
    let issued = if in_box { &pieces[..pieces.len() - 1] } else { pieces };
    let bytes = u64::from(copy.tensor.element_bytes);
    let issue = |piece: &Piece| IssueAxis {
        count: piece.extent,
        dim: 0,
        coordinate_step: piece.inner / last.inner,
        shared_bytes: piece.shared * bytes,
    };
    let box_elems = if in_box { last.extent } else { 1 };
    let issues = issued.iter().map(issue).collect();
    Ok((last.place, Dimension { extent, stride, box_elems, coordinate, issues }))
}

/// The parts of a window in the digits of one axis, outermost first.
fn windows_of_axis(
    axis: usize,
    digits: &[Digit],
    start: Start,
    extent: u64,
) -> Result<Vec<Window>, Declined> {
    let mut windows = Vec::new();
    // The elements of one step of the digit at hand, and the steps that the window still has there.
    let (mut step, mut rest) = (1_u64, extent);
    for (at, digit) in digits.iter().enumerate().rev() {
        let outermost = at == 0;
        let size = match digit.extent {
            Number::Known(size) => Some(size),
            Number::Axis { .. } => None,
        };
        let (coordinate, count) = match (size, start) {
            // The outermost digit has no limit: what is beyond it is outside the tensor.
            _ if outermost => {
                let coordinate = match start {
                    Start::Known(start) => {
                        Some(Coordinate { plus: start.div_euclid(step.cast_signed()), start: None })
                    }
                    Start::Value { .. } => Coordinate::of(axis, start).divided(step),
                };
                let multiple_of = step;
                let declined = Declined::Coordinate { axis, multiple_of, actual: start };
                (coordinate.ok_or(declined)?, rest)
            }
            (None, _) => return Err(Declined::OpenDigit { axis }),
            (Some(0), _) => return Err(Declined::Window { axis }),
            (Some(size), Start::Known(start)) => {
                let begin = start.div_euclid(step.cast_signed()).rem_euclid(size.cast_signed());
                let count = if begin == 0 && rest.is_multiple_of(size) {
                    size
                } else if begin.unsigned_abs() + rest <= size {
                    rest
                } else {
                    return Err(Declined::Window { axis });
                };
                (Coordinate { plus: begin, start: None }, count)
            }
            (Some(size), Start::Value { .. }) => {
                if rest > size && !rest.is_multiple_of(size) {
                    return Err(Declined::Window { axis });
                }
                // The outermost digit asks for a multiple of all that is below it.
                (Coordinate::ZERO, rest.min(size))
            }
        };
        windows.push(Window { axis, digit: *digit, start: coordinate, count, pieces: Vec::new() });
        rest /= count;
        step = step.saturating_mul(size.unwrap_or(1));
    }
    windows.reverse();
    Ok(windows)
}

/// A piece split into an outer and an inner one, if it is longer than a box or than a row of the swizzle.
fn shortened(piece: Piece, copy: &TileCopy) -> [Option<Piece>; 2] {
    let bytes = u64::from(copy.tensor.element_bytes);
    let (limit, unit) = if piece.shared == 1 {
        let span = match copy.shared.swizzle {
            SwizzleMode::None => BOX_LIMIT,
            SwizzleMode::B32 | SwizzleMode::B64 | SwizzleMode::B128 => {
                u64::from(copy.shared.swizzle.bytes()) / bytes
            }
        };
        (BOX_LIMIT.min(span), 16 / bytes)
    } else {
        (BOX_LIMIT, 1)
    };
    let whole = |&part: &u64| piece.extent.is_multiple_of(part) && part.is_multiple_of(unit);
    match (1..=limit).rev().find(whole) {
        Some(part) if part < piece.extent => {
            let outer = Piece {
                extent: piece.extent / part,
                shared: piece.shared.saturating_mul(part),
                inner: piece.inner.saturating_mul(part),
                ..piece
            };
            [Some(outer), Some(Piece { extent: part, ..piece })]
        }
        Some(_) | None => [None, Some(piece)],
    }
}

/// Gives every piece its place, by stride in shared memory, and counts those that follow one another from stride 1 on.
fn link(windows: &mut [Window], way: Way) -> Result<usize, Declined> {
    let mut pieces: Vec<&mut Piece> =
        windows.iter_mut().flat_map(|window| &mut window.pieces).collect();
    pieces.sort_by_key(|piece| piece.shared);
    let mut required = 1;
    let mut linked = 0;
    for (place, piece) in pieces.iter_mut().enumerate() {
        piece.place = place;
        if linked == place && piece.shared == required {
            linked += 1;
            required = required.saturating_mul(piece.extent);
        }
    }
    let gap = match way {
        Way::Whole => linked < pieces.len() || linked == 0,
        Way::Folded | Way::Shortened => linked == 0,
    };
    if gap {
        return Err(Declined::Chain {
            required,
            actual: pieces.get(linked).map(|piece| piece.shared),
        });
    }
    Ok(linked)
}
