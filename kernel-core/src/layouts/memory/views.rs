//! Windows that are not whole tiles of their allocation: the layout of the allocation over positions, in which a view names its elements.

use kernel_layout::{Dim, Layout};

use crate::ir::{SharedData, SharedType};
use crate::layouts::shared::whole_window;

/// What a box in shared memory begins at a multiple of (PTX ISA, "cp.async.bulk.tensor").
const BOX_BYTES: u32 = 128;

/// The extents of an allocation that are powers of two: all of them, or all after the first.
pub(crate) fn regular(shape: &[u32]) -> &[u32] {
    match shape {
        [first, rest @ ..] if !first.is_power_of_two() => rest,
        all => all,
    }
}

/// Where the elements of a window's type are: the map from offsets, in such elements, to positions in the regular part of the allocation, in
/// row-major order. None if the tile's layout does not keep together the bytes of an element.
pub(crate) fn positions(data: &SharedData, tile: &Layout, window: &SharedType) -> Option<Layout> {
    let (size, of_window) = (data.dtype.shared_bytes(), window.dtype.shared_bytes());
    let shape = regular(&data.shape);
    let count: u32 = shape.iter().product();
    let stored = whole_window(tile, shape, size)?.reshape(&[count]);
    let bases = stored.bases(Dim::Offset);
    let (bases, count): (Vec<Vec<u32>>, u32) = if of_window <= size {
        let parts = size / of_window;
        let within = (0..parts.trailing_zeros()).map(|bit| vec![1 << bit]);
        let between = bases.iter().map(|basis| vec![basis[0] * parts]);
        (within.chain(between).collect(), count * parts)
    } else {
        let parts = of_window / size;
        let within = parts.trailing_zeros();
        let (first, rest) = bases.split_at_checked(within as usize)?;
        let together = first.iter().zip(0..).all(|(basis, bit)| basis[0] == 1 << bit);
        if !together || rest.iter().any(|basis| !basis[0].is_multiple_of(parts)) {
            return None;
        }
        (rest.iter().map(|basis| vec![basis[0] / parts]).collect(), count / parts)
    };
    Layout::new(vec![(Dim::Offset, bases)], vec![(Dim::Axis(0), count)]).ok()
}

/// The layout of a tile of an allocation as elements of a window's type, and the window as a part of this tile; none if it is no such part.
pub(crate) fn in_tile(
    data: &SharedData,
    tile: &Layout,
    window: &SharedType,
) -> Option<(Layout, SharedType)> {
    if window.is_plain() {
        return Some((tile.clone(), window.clone()));
    }
    let &[.., rows, columns] = &data.shape[..] else { return None };
    let (size, of_window) = (data.dtype.shared_bytes(), window.dtype.shared_bytes());
    let part = window.in_tile([rows, columns], size)?;
    if size == of_window {
        return Some((tile.clone(), part));
    }
    let one = SharedData { shape: vec![rows, columns], ..data.clone() };
    let flat = positions(&one, tile, window)?;
    Some((flat.reshape(&[rows, columns * size / of_window]), part))
}

/// The layout of a part of a tile over offsets from where the part begins. None if its elements are not contiguous, if a swizzle exchanges them
/// depending on where the part begins, or if it is less than what a box begins at a multiple of.
pub(crate) fn contiguous_part(
    data: &SharedData,
    tile: &Layout,
    window: &SharedType,
) -> Option<Layout> {
    let (layout, part) = in_tile(data, tile, window)?;
    let &[rows, columns] = &part.shape[..] else { return None };
    if part.transposed || layout.tensor_rank() != 2 || !layout.has_in(Dim::Offset) {
        return None;
    }
    let bits = (rows * columns).trailing_zeros() as usize;
    let (within, beyond) = layout.bases(Dim::Offset).split_at_checked(bits)?;
    let in_part = |basis: &Vec<u32>| basis[0] < rows && basis[1] < columns;
    let elsewhere =
        |basis: &Vec<u32>| basis[0].is_multiple_of(rows) && basis[1].is_multiple_of(columns);
    let bytes = rows * columns * part.dtype.shared_bytes();
    if !within.iter().all(in_part) || !beyond.iter().all(elsewhere) || bytes < BOX_BYTES {
        return None;
    }
    let outs = vec![(Dim::Axis(0), rows), (Dim::Axis(1), columns)];
    Layout::new(vec![(Dim::Offset, within.to_vec())], outs).ok()
}

/// A layout over the axes of a window, over positions in its allocation.
pub(crate) fn over_positions(registers: &Layout, window: &SharedType, count: u32) -> Layout {
    let axes = window.axes();
    let position = |at: &Vec<u32>| {
        let of_axis = |(at, bits): (&u32, &Vec<u32>)| {
            let set = bits.iter().enumerate().filter(|(bit, _)| at >> bit & 1 == 1);
            set.fold(0, |all, (_, &bit)| all | 1 << bit)
        };
        vec![at.iter().zip(&axes).map(of_axis).fold(0, |all, one| all | one)]
    };
    let ins = registers
        .ins()
        .iter()
        .map(|(dim, bases)| (*dim, bases.iter().map(position).collect()))
        .collect();
    Layout::new(ins, vec![(Dim::Axis(0), count)]).expect("a window is within its allocation")
}

/// A layout over the axes of a window, over those of its allocation's last axes, as many as a tile may have; none if the elements are of
/// another type.
pub(crate) fn over_tile(
    registers: &Layout,
    window: &SharedType,
    data: &SharedData,
) -> Option<Layout> {
    if window.dtype.shared_bytes() != data.dtype.shared_bytes() {
        return None;
    }
    let shape = regular(&data.shape);
    let tile = &shape[shape.len().saturating_sub(2)..];
    let count: u32 = tile.iter().product();
    let flat = over_positions(registers, window, shape.iter().product());
    // What is beyond a tile is in another one, at the same place.
    let ins = flat.ins().iter().map(|(dim, bases)| {
        let within = |basis: &Vec<u32>| vec![basis[0] & (count - 1)];
        (*dim, bases.iter().map(within).collect())
    });
    let flat = Layout::new(ins.collect(), vec![(Dim::Axis(0), count)]).ok()?;
    Some(flat.reshape(tile))
}
