//! Scratch memory that is kept from one call to the next, so that later calls of the same extents do not allocate.

use kiln::prelude::*;

/// Scratch memory of a shape: the first elements of `memory`, which grows if it has fewer.
pub(crate) fn shaped<'a, T: Element, const R: usize>(
    stream: &Stream,
    memory: &'a mut DeviceTensor<T, 1>,
    shape: [usize; R],
) -> Result<TensorViewMut<'a, T, R>> {
    let len = shape.iter().product();
    grow(stream, memory, len)?;
    memory.view_mut().into_slice(0, 0..len)?.into_reshape(shape)
}

/// Makes scratch memory for at least so many elements. What was there is lost if it grows.
pub(crate) fn grow<T: Element>(
    stream: &Stream,
    memory: &mut DeviceTensor<T, 1>,
    len: usize,
) -> Result<()> {
    if memory.len() < len {
        *memory = stream.empty([len])?;
    }
    Ok(())
}

/// Memory of products whose steps along `k` are shared by blocks: sums of parts of tiles, and how many there are of each tile.
#[cfg(feature = "matmul")]
#[derive(Debug)]
pub(crate) struct Scratch {
    /// Sums, of 32 bits each.
    parts: DeviceTensor<f32, 1>,
    /// How many parts of each tile have been stored: zero between products.
    arrived: DeviceTensor<i32, 1>,
    /// A launch has failed, which may have left counts.
    spoilt: bool,
}

#[cfg(feature = "matmul")]
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
        let parts = shaped(stream, &mut self.parts, [sums])?;
        if self.arrived.len() < tiles || self.spoilt {
            self.arrived = stream.zeros([tiles])?;
            self.spoilt = false;
        }
        let launched = launch(parts, &mut self.arrived);
        if launched.is_err() {
            // What was stopped may have counted parts that nobody will add.
            self.spoilt = true;
        }
        launched
    }
}
