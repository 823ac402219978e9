//! The named dimensions that layouts map between.

use std::fmt;

/// A named dimension of a layout's input or output.
///
/// Hardware dimensions say where a value is held: `Register`, `Lane`, `Warp` and `Block` for values in registers,
/// `Offset` (in elements) and `Block` for values in shared memory, `Row` and `Col` for values in tensor memory.
/// `Axis(i)` is axis `i` of the tensor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Dim {
    /// The index of a value among those that one thread holds.
    Register,
    /// The thread within its warp, 0 to 31.
    Lane,
    /// The warp within the block, or within the partition that owns the tile.
    Warp,
    /// The block within its cluster (the PTX manual's `%cluster_ctarank`).
    Block,
    /// The position in shared memory, counted in elements from the start of the allocation.
    Offset,
    /// The row of tensor memory, 0 to 127 (the PTX manual calls rows lanes).
    Row,
    /// The column of tensor memory.
    Col,
    /// An axis of the tensor; `Axis(0)` is the outermost.
    Axis(u8),
}

impl Dim {
    /// The axes of a tensor of rank `rank`, outermost first.
    ///
    /// ```
    /// use kernel_layout::Dim;
    /// assert_eq!(Dim::axes(2), vec![Dim::Axis(0), Dim::Axis(1)]);
    /// ```
    pub fn axes(rank: usize) -> Vec<Dim> {
        (0..rank).map(Dim::axis).collect()
    }

    /// `Axis(index)`.
    ///
    /// # Requires
    /// `index` is below 256.
    pub fn axis(index: usize) -> Dim {
        Dim::Axis(u8::try_from(index).expect("a tensor has fewer than 256 axes"))
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Register => f.write_str("register"),
            Dim::Lane => f.write_str("lane"),
            Dim::Warp => f.write_str("warp"),
            Dim::Block => f.write_str("block"),
            Dim::Offset => f.write_str("offset"),
            Dim::Row => f.write_str("row"),
            Dim::Col => f.write_str("col"),
            Dim::Axis(index) => write!(f, "axis{index}"),
        }
    }
}
