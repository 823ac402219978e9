//! Launches of kernels whose blocks share `k`.

use kiln::prelude::*;

use super::QuantizedMatmul;
use crate::{shape::count, shares::shares};

/// What a kernel takes to share `k`.
pub(super) struct Sharing<'a> {
    pub(super) parts: TensorViewMut<'a, f32, 4>,
    pub(super) arrived: &'a mut DeviceTensor<i32, 1>,
    pub(super) shares: i32,
}

impl QuantizedMatmul {
    /// Launches a kernel of `[n, m]` sums in tiles, by weights with so many bytes in a row.
    pub(super) fn share(
        &mut self,
        stream: &Stream,
        [n, m]: [usize; 2],
        [rows, columns]: [usize; 2],
        bytes: usize,
        launch: impl FnOnce(Sharing<'_>) -> Result<()>,
    ) -> Result<()> {
        let tiles = n.div_ceil(rows) * m.div_ceil(columns);
        let shares = shares(tiles, bytes, self.multiprocessors.max(1));
        let tiles = if shares > 1 { tiles } else { 0 };
        let sums = tiles * shares * rows * columns;
        let count = count(shares)?;
        self.scratch.launch(stream, sums, tiles, |parts, arrived| {
            let parts = parts.into_reshape([tiles, shares, rows, columns])?;
            launch(Sharing { parts, arrived, shares: count })
        })
    }
}
