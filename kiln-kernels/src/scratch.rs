//! Scratch memory of products whose steps along `k` are shared by blocks.

use kiln::prelude::*;

/// Sums of parts of tiles, and how many there are of each tile. It is kept from one product to the next.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// Sums, of 32 bits each.
    parts: DeviceTensor<f32, 1>,
    /// How many parts of each tile have been stored: zero between products.
    arrived: DeviceTensor<i32, 1>,
    /// A launch has failed, which may have left counts.
    spoilt: bool,
}

impl Scratch {
    pub(crate) fn new(stream: &Stream) -> Result<Scratch> {
        Ok(Scratch { parts: stream.empty([0])?, arrived: stream.zeros([0])?, spoilt: false })
    }

    /// Launches a kernel that stores so many sums, of so many tiles.
    pub(crate) fn launch(
        &mut self,
        stream: &Stream,
        sums: usize,
        tiles: usize,
        launch: impl FnOnce(TensorViewMut<'_, f32, 1>, &mut DeviceTensor<i32, 1>) -> Result<()>,
    ) -> Result<()> {
        if self.parts.len() < sums {
            self.parts = stream.empty([sums])?;
        }
        if self.arrived.len() < tiles || self.spoilt {
            self.arrived = stream.zeros([tiles])?;
            self.spoilt = false;
        }
        let launched = launch(self.parts.slice_mut(0, 0..sums)?, &mut self.arrived);
        if launched.is_err() {
            // What was stopped may have counted parts that nobody will add.
            self.spoilt = true;
        }
        launched
    }
}
