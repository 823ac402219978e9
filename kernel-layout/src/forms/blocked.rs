//! Blocked layouts: a box of elements per thread, a box of threads per warp, a box of warps; and derived layouts:
//! slices, and layouts given as bases.

use super::{
    Form, LANES, LIST_BITS, check_order, check_powers, check_rank, check_shape, identity_nd,
};
use crate::layout::log2;
use crate::{Dim, Layout, LayoutError};

/// Each thread holds a box of `per_thread` elements, a warp is a box of `lanes` threads, a block a box of `warps`.
///
/// All three boxes are walked in `order`, whose first entry is the fastest axis. The tile is then fitted to `shape`.
///
/// ```
/// use kernel_layout::forms::blocked;
/// use kernel_layout::Dim;
/// let layout = blocked(&[2, 4], &[8, 4], &[2, 2], &[1, 0], &[64, 128])?;
/// assert_eq!(layout.bases(Dim::Register), [[0, 1], [0, 2], [1, 0], [0, 32], [0, 64], [32, 0]]);
/// assert_eq!(layout.bases(Dim::Lane), [[0, 4], [0, 8], [2, 0], [4, 0], [8, 0]]);
/// assert_eq!(layout.bases(Dim::Warp), [[0, 16], [16, 0]]);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// When a list does not have one entry per axis, an entry is not a power of two, `order` does not name every axis once,
/// or the lanes do not multiply to 32.
pub fn blocked(
    per_thread: &[u32],
    lanes: &[u32],
    warps: &[u32],
    order: &[u32],
    shape: &[u32],
) -> Result<Layout, LayoutError> {
    check_blocked(per_thread, lanes, warps, order, shape)?;
    let tile = identity_nd(Dim::Register, per_thread, order)
        .product(&identity_nd(Dim::Lane, lanes, order))
        .product(&identity_nd(Dim::Warp, warps, order));
    Ok(tile.fit(shape, order))
}

/// The rules on the parameters of a blocked layout.
pub(super) fn check_blocked(
    per_thread: &[u32],
    lanes: &[u32],
    warps: &[u32],
    order: &[u32],
    shape: &[u32],
) -> Result<(), LayoutError> {
    check_rank("per_thread", per_thread.len(), shape.len())?;
    check_rank("lanes", lanes.len(), shape.len())?;
    check_rank("warps", warps.len(), shape.len())?;
    check_order(order, shape.len())?;
    check_powers("per_thread", per_thread)?;
    check_powers("lanes", lanes)?;
    check_powers("warps", warps)?;
    check_shape(shape)?;
    let actual = lanes.iter().map(|&count| u64::from(count)).product();
    if actual == u64::from(LANES) {
        Ok(())
    } else {
        Err(LayoutError::Lanes { actual, required: LANES })
    }
}

/// The parameters of the best layout for reading a tile of `shape` from memory: see [`blocked_for`].
///
/// # Requires
/// Rank at least 1; powers of two; `order` names each axis once.
pub fn blocked_form_for(shape: &[u32], order: &[u32], per_thread_fastest: u32, warps: u32) -> Form {
    check_order(order, shape.len()).expect("the caller orders the axes of the shape");
    let elements: usize = shape.iter().map(|&size| log2(size)).sum();
    let threads = log2(LANES) + log2(warps);
    let fastest = order[0] as usize;
    let vector =
        log2(per_thread_fastest).min(log2(shape[fastest])).min(elements.saturating_sub(threads));
    let mut per_thread = vec![1; shape.len()];
    let (mut lane_box, mut warp_box) = (per_thread.clone(), per_thread.clone());
    per_thread[fastest] = 1 << vector;
    let (mut lanes_left, mut warps_left) = (log2(LANES), log2(warps));
    for &axis in order {
        let axis = axis as usize;
        let room = log2(shape[axis]) - log2(per_thread[axis]);
        let lanes = room.min(lanes_left);
        let warps = (room - lanes).min(warps_left);
        lane_box[axis] = 1 << lanes;
        warp_box[axis] = 1 << warps;
        lanes_left -= lanes;
        warps_left -= warps;
    }
    // Threads for which the tile has no elements are along the slowest axis; fitting to the shape makes them repeat.
    let slowest = order[order.len() - 1] as usize;
    lane_box[slowest] <<= lanes_left;
    warp_box[slowest] <<= warps_left;
    Form::Blocked { per_thread, lanes: lane_box, warps: warp_box, order: order.to_vec() }
}

/// The best layout for reading a tile of `shape` from memory.
///
/// A thread holds `per_thread_fastest` consecutive elements along the fastest axis, `order[0]`, or fewer if there are
/// not enough for all threads; lanes and then warps follow along `order[0]`, then `order[1]`, and so on.
///
/// ```
/// use kernel_layout::forms::blocked_for;
/// use kernel_layout::Dim;
/// let layout = blocked_for(&[16, 64], &[1, 0], 8, 4);
/// assert_eq!(layout.bases(Dim::Register), [[0, 1], [0, 2], [0, 4]]);
/// assert_eq!(layout.bases(Dim::Lane), [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]]);
/// assert_eq!(layout.bases(Dim::Warp), [[4, 0], [8, 0]]);
/// ```
///
/// A tensor of rank 0 has one element, which every thread holds.
///
/// # Requires
/// Powers of two; `order` names each axis once.
pub fn blocked_for(shape: &[u32], order: &[u32], per_thread_fastest: u32, warps: u32) -> Layout {
    if shape.is_empty() {
        return blocked_for(&[1], &[0], 1, warps).slice(0);
    }
    blocked_form_for(shape, order, per_thread_fastest, warps)
        .to_layout(shape)
        .expect("the parameters were chosen to be right")
}

/// The elements that the threads of `parent` hold when its axis `axis` has size 1.
///
/// `parent` is built on `shape` with a 1 inserted at `axis`; then that axis is removed as by [`Layout::slice`].
///
/// ```
/// use kernel_layout::forms::{slice_of, Form};
/// use kernel_layout::Dim;
/// let parent = Form::Blocked { per_thread: vec![1, 4], lanes: vec![32, 1], warps: vec![1, 4], order: vec![1, 0] };
/// let rows = slice_of(0, &parent, &[256])?;
/// assert_eq!(rows.bases(Dim::Register), [[1], [2], [16], [32], [64], [128]]);
/// assert_eq!(rows.bases(Dim::Lane), [[0]; 5]);
/// assert_eq!(rows.bases(Dim::Warp), [[4], [8]]);
/// # Ok::<(), kernel_layout::LayoutError>(())
/// ```
///
/// # Errors
/// When `axis` exceeds the rank of `shape`, or the parent cannot be built.
pub fn slice_of(axis: u32, parent: &Form, shape: &[u32]) -> Result<Layout, LayoutError> {
    if axis as usize > shape.len() {
        return Err(LayoutError::Axis { actual: axis, rank: shape.len() + 1 });
    }
    let mut parent_shape = shape.to_vec();
    parent_shape.insert(axis as usize, 1);
    if let Form::Tile(tile) = parent {
        // Its extents multiply to those of the parent: along the missing axis it has what the others leave.
        let others = shape.iter().map(|&size| u64::from(size)).product::<u64>().max(1);
        let missing = u32::try_from(tile.size() / others).unwrap_or(u32::MAX).max(1);
        let extents: Vec<u32> = parent_shape
            .iter()
            .enumerate()
            .map(|(at, &size)| if at == axis as usize { missing } else { size })
            .collect();
        return Ok(linear(&tile.to_linear(&extents)?, &parent_shape)?.slice(axis as usize));
    }
    if parent.is_slice_of_tile() {
        return Err(LayoutError::Parent {
            actual: parent.to_string(),
            required: "a layout that says how far the missing axes extend, such as `linear(..)`,",
        });
    }
    Ok(parent.to_layout(&parent_shape)?.slice(axis as usize))
}

/// A layout given as bases, for the tensor size in `literal`, fitted to `shape`.
///
/// It grows along the axes in the order of its own bases. If it shrinks, registers that would repeat elements are
/// dropped.
///
/// # Errors
/// When the rank differs, `shape` has an entry that is not a power of two, `literal` has dimensions that are not those of
/// registers, or some element would be held nowhere.
pub fn linear(literal: &Layout, shape: &[u32]) -> Result<Layout, LayoutError> {
    check_rank("shape", shape.len(), literal.tensor_rank())?;
    check_shape(shape)?;
    let literal = in_hardware_order(literal)?;
    check_surjective(&literal)?;
    let fitted = literal.fit(shape, &literal.axis_order());
    let is_zero = |basis: &Vec<u32>| basis.iter().all(|&part| part == 0);
    let written = literal.bases(Dim::Register);
    let kept = |(bit, basis): &(usize, &Vec<u32>)| {
        !is_zero(basis) || written.get(*bit).is_some_and(is_zero)
    };
    let registers: Vec<Vec<u32>> = fitted
        .bases(Dim::Register)
        .iter()
        .enumerate()
        .filter(kept)
        .map(|(_, basis)| basis.clone())
        .collect();
    let ins = fitted.ins().iter().map(|(dim, bases)| {
        (*dim, if *dim == Dim::Register { registers.clone() } else { bases.clone() })
    });
    Layout::new(ins.collect(), fitted.outs().to_vec())
}

/// A literal layout with the dimensions that every register layout has, in their order.
fn in_hardware_order(literal: &Layout) -> Result<Layout, LayoutError> {
    let mut dims = vec![Dim::Register, Dim::Lane, Dim::Warp];
    if literal.has_in(Dim::Block) {
        dims.push(Dim::Block);
    }
    check_dims(literal, &dims)?;
    let most = dims.iter().map(|&dim| literal.bases(dim).len()).max().unwrap_or(0);
    if most > LIST_BITS {
        return Err(LayoutError::TooManyBits { actual: most, limit: LIST_BITS });
    }
    Ok(literal.sublayout(&dims, &Dim::axes(literal.tensor_rank())))
}

/// A literal layout must lead from some of `dims` to the axes of a tensor.
pub(super) fn check_dims(literal: &Layout, dims: &[Dim]) -> Result<(), LayoutError> {
    let axes = Dim::axes(literal.outs().len());
    let foreign_in = literal.in_dims().find(|dim| !dims.contains(dim));
    let foreign_out = literal.out_dims().find(|dim| !axes.contains(dim));
    foreign_in.or(foreign_out).map_or(Ok(()), |dim| Err(LayoutError::ForeignDim { dim }))
}

/// Every element must be held somewhere.
pub(super) fn check_surjective(layout: &Layout) -> Result<(), LayoutError> {
    if layout.is_surjective() {
        return Ok(());
    }
    // The lowest element that is not held is a power of two: were all those held, so would be their sums.
    let matrix = layout.matrix();
    let missing =
        (0..layout.out_bits()).map(|bit| 1 << bit).find(|&index| matrix.solve(index).is_none());
    let missing = missing.expect("a layout that holds every power of two is surjective");
    Err(LayoutError::NotSurjective { missing: layout.unflatten_out(missing) })
}
