//! The number of blocks of a launch.

pub mod checked;

/// The blocks of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// The number of blocks along x, y and z.
    Blocks([i32; 3]),
    /// As many blocks as the device holds at once, but at most this number.
    ///
    /// A kernel with clusters gets whole ones: as many as the device holds at once, within this number of blocks, and
    /// at least one.
    Persistent {
        /// The number of tiles.
        at_most: i32,
    },
}

/// The reason why `grid = ..` of a kernel has no value for the arguments of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GridFault {
    /// A result does not fit its type, which is `i32` for scalars, extents and `const` parameters.
    #[error(
        "the result of `{operator}` does not fit into its type (extents and scalars are `i32`){}",
        if matches!(*operator, "/" | "%") { ", or the divisor is 0" } else { "" }
    )]
    Overflow {
        /// The operator, as it is written.
        operator: &'static str,
    },
    /// A tensor has no such axis.
    #[error("a tensor of rank {rank} has no axis {axis}")]
    NoAxis {
        /// Axes of the tensor.
        rank: usize,
        /// The axis asked for.
        axis: usize,
    },
}

/// The largest extents of a grid (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
pub(crate) const LIMITS: [i32; 3] = [i32::MAX, 65_535, 65_535];

/// The blocks of a persistent grid, along x: whole clusters of `cluster` blocks, no more than are required or fit at
/// once, but at least one.
pub(crate) fn persistent_blocks(at_most: i32, resident: u32, cluster: u32) -> u32 {
    let (blocks, cluster) = (at_most.unsigned_abs().min(resident), cluster.max(1));
    (blocks / cluster).max(1) * cluster
}

/// How many of the resident blocks can hold their `columns` of tensor memory at once. The driver does not count the
/// columns: if it starts too many blocks, some wait in their allocation until another one ends.
#[cfg(any(feature = "cuda", feature = "emulator"))]
pub(crate) fn with_tensor_memory(resident: u32, multiprocessors: u32, columns: u32) -> u32 {
    match kernel_ptx::Target::TENSOR_COLUMNS.checked_div(columns) {
        Some(blocks) => resident.min(multiprocessors * blocks.max(1)),
        None => resident,
    }
}

/// A grid: one to three extents, as a number, an array or a tuple.
///
/// A launch with an extent of zero does nothing; extents that are negative or over the device's limit are errors of the
/// launch.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a grid",
    note = "a grid is one to three `i32`: `n`, `[x, y]`, `(x, y, z)`, or `persistent(tiles)`"
)]
pub trait IntoGrid {
    /// The grid; extents left out are 1.
    fn into_grid(self) -> Grid;
}

/// A grid of as many blocks as the device holds at once, and at most `tiles`.
pub const fn persistent(tiles: i32) -> Grid {
    Grid::Persistent { at_most: tiles }
}

impl IntoGrid for Grid {
    fn into_grid(self) -> Grid {
        self
    }
}

impl IntoGrid for i32 {
    fn into_grid(self) -> Grid {
        Grid::Blocks([self, 1, 1])
    }
}

impl IntoGrid for [i32; 1] {
    fn into_grid(self) -> Grid {
        let [x] = self;
        Grid::Blocks([x, 1, 1])
    }
}

impl IntoGrid for [i32; 2] {
    fn into_grid(self) -> Grid {
        let [x, y] = self;
        Grid::Blocks([x, y, 1])
    }
}

impl IntoGrid for [i32; 3] {
    fn into_grid(self) -> Grid {
        Grid::Blocks(self)
    }
}

impl IntoGrid for (i32,) {
    fn into_grid(self) -> Grid {
        Grid::Blocks([self.0, 1, 1])
    }
}

impl IntoGrid for (i32, i32) {
    fn into_grid(self) -> Grid {
        Grid::Blocks([self.0, self.1, 1])
    }
}

impl IntoGrid for (i32, i32, i32) {
    fn into_grid(self) -> Grid {
        Grid::Blocks([self.0, self.1, self.2])
    }
}

/// `a / b`, rounded up: how many tiles of `b` cover `a`. Both are positive; anything else gives 0, which
/// no launch accepts.
pub const fn cdiv(a: i32, b: i32) -> i32 {
    if a <= 0 || b <= 0 { 0 } else { (a - 1) / b + 1 }
}

#[cfg(all(test, any(feature = "cuda", feature = "emulator")))]
mod tests {
    use super::*;

    #[test]
    fn blocks_wait_for_no_columns_of_tensor_memory() {
        // Resident for the driver, multiprocessors, columns of a block, resident.
        for (resident, multiprocessors, columns, required) in [
            (592, 148, 0, 592),
            (592, 148, 32, 592),
            (592, 148, 128, 592),
            (592, 148, 256, 296),
            (592, 148, 512, 148),
            (100, 148, 512, 100),
        ] {
            assert_eq!(
                with_tensor_memory(resident, multiprocessors, columns),
                required,
                "{columns}"
            );
        }
    }

    #[test]
    fn a_persistent_grid_is_cut_to_whole_clusters() {
        // Wanted, resident, blocks of a cluster, started.
        for (at_most, resident, cluster, required) in [
            (5, 132, 1, 5),
            (200, 132, 1, 132),
            (5, 132, 2, 4),
            (200, 132, 8, 128),
            (200, 120, 8, 120),
            (i32::MAX, 132, 16, 128),
            // Less than a cluster is still one: the blocks that have no tile end at once.
            (1, 132, 4, 4),
            (100, 2, 4, 4),
        ] {
            assert_eq!(persistent_blocks(at_most, resident, cluster), required, "{at_most}");
        }
    }
}
