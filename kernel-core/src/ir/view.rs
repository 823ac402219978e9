//! Where the elements of a window of shared memory are in its allocation.
//!
//! Extents are powers of two, so a position in the allocation, in row-major order, is a number whose bits are those of the coordinates.
//! Of an allocation `[4, 8]`, the axes of a window of all of it have the bits `[3, 4]` and `[0, 1, 2]`. `reshape([2, 16])` distributes
//! them as `[4]` and `[0, 1, 2, 3]`; a part of two columns keeps the lowest bit of the last axis, and its start has the others. The first
//! axis of a ring may have any extent: its bits are the highest.

use super::{Dtype, SharedType};

/// The bits of a window that is not made of whole tiles of its allocation, in the order in which they were made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct View {
    /// For each axis the bits of a position, in elements of the window, that the bits of its coordinate are, lowest first.
    pub axes: Vec<Vec<u32>>,
    /// Whether the elements have another type than those of the allocation.
    pub retyped: bool,
}

/// The bits that a coordinate has.
fn bits(extent: u32) -> u32 {
    extent.next_power_of_two().trailing_zeros()
}

/// So many bits from the lowest on, distributed to axes of these extents, the last one first.
fn distributed(shape: &[u32], all: &mut impl Iterator<Item = u32>) -> Vec<Vec<u32>> {
    let mut axes: Vec<Vec<u32>> = shape
        .iter()
        .rev()
        .map(|&extent| all.by_ref().take(bits(extent) as usize).collect())
        .collect();
    axes.reverse();
    axes
}

impl SharedType {
    /// For each axis, the bits of a position in the allocation that the bits of a coordinate are, lowest first.
    pub fn axes(&self) -> Vec<Vec<u32>> {
        if let Some(view) = &self.view {
            return view.axes.clone();
        }
        let mut shape = self.shape.clone();
        if self.transposed {
            shape.reverse();
        }
        let mut axes = distributed(&shape, &mut (0..));
        if self.transposed {
            axes.reverse();
        }
        axes
    }

    /// Whether it is whole tiles of its allocation, as they were made, perhaps transposed.
    pub fn is_plain(&self) -> bool {
        self.view.is_none()
    }

    /// Whether its elements have another type than those of the allocation.
    pub fn is_retyped(&self) -> bool {
        self.view.as_ref().is_some_and(|view| view.retyped)
    }

    /// Whether neighbours along the axis are neighbours in the allocation's rows.
    pub fn runs_along(&self, axis: usize) -> bool {
        self.axes()[axis].first() == Some(&0)
    }

    /// How many elements it has.
    pub fn elements(&self) -> u64 {
        self.shape.iter().map(|&extent| u64::from(extent)).product()
    }

    fn viewed(&self, shape: Vec<u32>, axes: Vec<Vec<u32>>) -> SharedType {
        let retyped = self.is_retyped();
        let view = Some(View { axes, retyped });
        SharedType { shape, transposed: false, view, ..self.clone() }
    }

    /// The same elements in row-major order, with other extents. None if those are not as many, or if an axis that is not a power of two
    /// would change.
    pub fn reshaped(&self, shape: &[u32]) -> Option<SharedType> {
        if shape == self.shape {
            return Some(self.clone());
        }
        let odd = |shape: &[u32]| shape.first().copied().filter(|extent| !extent.is_power_of_two());
        let elements = shape.iter().map(|&extent| u64::from(extent)).product::<u64>();
        if elements != self.elements() || odd(shape) != odd(&self.shape) {
            return None;
        }
        let mut all = self.axes().into_iter().rev().flatten();
        Some(self.viewed(shape.to_vec(), distributed(shape, &mut all)))
    }

    /// A part of these extents. None if it has another rank, or is larger, or has a part of an axis that is not a power of two.
    pub fn part(&self, shape: &[u32]) -> Option<SharedType> {
        let mut axes = self.axes();
        let fits = |(part, whole): (&u32, &u32)| {
            part == whole || part < whole && part.is_power_of_two() && whole.is_power_of_two()
        };
        if shape.len() != self.shape.len() || !shape.iter().zip(&self.shape).all(fits) {
            return None;
        }
        for (axis, &extent) in axes.iter_mut().zip(shape) {
            axis.truncate(bits(extent) as usize);
        }
        Some(self.viewed(shape.to_vec(), axes))
    }

    /// The window without its leading axis.
    pub fn without_leading(&self) -> Option<SharedType> {
        let mut window = self.clone();
        if window.shape.is_empty() {
            return None;
        }
        window.shape.remove(0);
        if let Some(view) = &mut window.view {
            view.axes.remove(0);
        }
        Some(window)
    }

    /// The window with its two axes swapped.
    #[must_use]
    pub fn swapped(&self) -> SharedType {
        let mut window = self.clone();
        window.shape.swap(0, 1);
        match &mut window.view {
            Some(view) => view.axes.swap(0, 1),
            None => window.transposed = !window.transposed,
        }
        window
    }

    /// The same bytes as elements of another type. None if those of a row of the last axis are not whole elements, or not contiguous.
    pub fn retyped(&self, dtype: Dtype) -> Option<SharedType> {
        let (from, to) = (self.dtype.shared_bytes(), dtype.shared_bytes());
        let (mut shape, mut axes) = (self.shape.clone(), self.axes());
        let (extent, last) = (shape.last_mut()?, axes.last_mut()?);
        if !from.is_power_of_two() || !to.is_power_of_two() {
            return None;
        }
        if to < from {
            let more = (from / to).trailing_zeros();
            *extent <<= more;
            axes.iter_mut().flatten().for_each(|bit| *bit += more);
            let last = axes.last_mut()?;
            last.splice(0..0, 0..more);
        } else {
            let less = (to / from).trailing_zeros();
            let is_run =
                last.len() >= less as usize && last.iter().copied().take(less as usize).eq(0..less);
            if !is_run || !extent.is_power_of_two() {
                return None;
            }
            *extent >>= less;
            last.drain(..less as usize);
            if axes.iter().flatten().any(|bit| *bit < less) {
                return None;
            }
            axes.iter_mut().flatten().for_each(|bit| *bit -= less);
        }
        let mut window = self.viewed(shape, axes);
        window.dtype = dtype;
        if let Some(view) = &mut window.view {
            view.retyped = true;
        }
        Some(window)
    }

    /// The window as a part of one tile of its allocation, whose tiles have such extents and elements of so many bytes: as it would be if that
    /// part were the tile. None of a view that has its elements in another order, or those of several tiles.
    pub fn in_tile(&self, [rows, columns]: [u32; 2], element_bytes: u32) -> Option<SharedType> {
        let Some(View { axes, .. }) = &self.view else { return Some(self.clone()) };
        let (own_bytes, row_bytes) = (self.dtype.shared_bytes(), columns * element_bytes);
        let &[first, second] = &self.shape[..] else { return None };
        if !row_bytes.is_multiple_of(own_bytes) {
            return None;
        }
        let columns = row_bytes / own_bytes;
        let fits = |outer: usize, inner: usize, [outer_extent, inner_extent]: [u32; 2]| {
            outer_extent <= rows
                && inner_extent <= columns
                && axes[inner].iter().copied().eq(0..bits(inner_extent))
                && axes[outer]
                    .iter()
                    .copied()
                    .eq((bits(columns)..).take(bits(outer_extent) as usize))
        };
        let transposed = if fits(0, 1, [first, second]) {
            false
        } else if fits(1, 0, [second, first]) {
            true
        } else {
            return None;
        };
        Some(SharedType { transposed, view: None, ..self.clone() })
    }

    /// Whether its elements are one after the other in the allocation, in the order of the window.
    pub fn is_dense(&self) -> bool {
        let mut all = self.axes().into_iter().rev().flatten();
        let Some(first) = all.next() else { return true };
        first == 0 && all.eq(1..self.shape.iter().map(|&extent| bits(extent)).sum())
    }
}
