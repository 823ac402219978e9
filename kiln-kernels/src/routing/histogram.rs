//! Counts of values.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use crate::shape::{extent, require};

/// The most bins: a block counts 8192 of them, and blocks for others read the values again.
const MOST: usize = 65536;

/// How many values are 0, 1, and so on, up to the number of bins: `values` has the shape `[n]`, `counts` the shape `[bins]`, with up to
/// 65536 bins.
///
/// Values that are negative or not less than the number of bins are not counted. The more adjacent values are equal, the longer their
/// additions wait for each other.
///
/// # Errors
/// [`Error::Shape`] for more bins, those of launches.
#[doc(alias = "bincount")]
pub fn histogram(
    stream: &Stream,
    values: &impl TensorArgument<i32, 1>,
    counts: &mut impl TensorArgumentMut<i32, 1>,
) -> Result<()> {
    let [bins] = counts.tensor_mut()?.shape();
    let [count] = values.tensor()?.shape();
    require("a histogram, of counts", [bins.min(MOST)], [bins])?;
    bins::clear(bins::clear::Args { counts: &mut *counts }).launch(stream)?;
    // Blocks that many tiles keep busy add their counts seldom, and 512 of them keep the device busy.
    let blocks = count.div_ceil(extent(bins::N)).min(512);
    let blocks = i32::try_from(blocks).expect("at most 512");
    bins::count::find(|i| bins <= extent(i.B) || extent(i.B) == 8192)?
        .with(bins::count::Args { values, counts, blocks })
        .launch(stream)
}

/// Counts in shared memory.
#[kiln::kernel]
mod bins {
    use kiln::prelude::*;

    /// Values of a tile.
    pub(super) const N: i32 = 4096;

    /// Zeros.
    #[kernel(target = sm_80, warps = 4, grid = cdiv(counts.dim(0), 1024))]
    pub fn clear(counts: TensorMut<i32, 1>) {
        counts.tile([block_id(0) * 1024], [1024]).store(zeros([1024]));
    }

    /// Each of `blocks` counts the values of its tiles in `B` bins.
    #[kernel(target = sm_80, warps = 8, grid = [blocks, cdiv(counts.dim(0), B)], instances(B = [256, 8192]))]
    pub fn count<const B: i32>(values: Tensor<i32, 1>, counts: TensorMut<i32, 1>, blocks: i32) {
        let first = block_id(1) * B;
        let bins = shared::<i32>([B]);
        bins.store(zeros([B]));
        sync();
        for at in range(block_id(0) * N, values.dim(0), blocks * N) {
            let value = values.tile([at], [N]).load();
            let inside = (at + arange(0, N)).lt(values.dim(0));
            bins.atomic_add(select(inside, value - first, -1), full([N], 1));
        }
        sync();
        counts.tile([first], [B]).atomic_add(bins.load());
    }
}
