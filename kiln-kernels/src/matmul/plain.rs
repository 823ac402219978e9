//! Products on cards of any generation from Ampere on: which instance computes one, and how many blocks share a tile.

use kiln::prelude::*;

use super::{FEW_ROWS, Job, Major, Matmul, in_a_column};
use crate::{
    Half,
    activation::number_of,
    shape::{count, extent},
    shares::shares,
};

mod kernel;

use kernel::pipelined::product;

impl Matmul {
    /// A product of any strides, by the kernel that all cards run.
    pub(super) fn plain<T: Half>(
        &mut self,
        stream: &Stream,
        job: Job<'_, T>,
        mut c: TensorViewMut<'_, T, 3>,
    ) -> Result<()> {
        let [batches, m, n, k] = job.shape;
        let majors = job.majors();
        let aligned = job.is_for_tma(&c); // 16 bytes are stored at a time
        let tiles = |[rows, columns]: [usize; 2]| batches * m.div_ceil(rows) * n.div_ceil(columns);
        let height = if m <= FEW_ROWS && majors[0] == Major::K {
            16
        } else if aligned && tiles([128, 128]) >= self.multiprocessors {
            128
        } else {
            64
        };
        let key = (Dtype::of::<T>(), height, majors.map(|major| major == Major::K));
        let instance = product::find(|i| (i.T, i.BM, [i.LEFT_K, i.RIGHT_K]) == key)?;
        let [bm, bn] = [instance.BM, instance.BN].map(extent);
        let tiles = tiles([bm, bn]);
        // Many tiles keep all multiprocessors busy as they are.
        let multiprocessors = self.multiprocessors.max(1);
        let shares = if height == 128 || tiles >= 2 * multiprocessors {
            1
        } else {
            shares(tiles, 2 * k, multiprocessors)
        };
        let shared = if shares > 1 { tiles } else { 0 };
        let of_tile = count(shares)?;
        let Job { operands: [left, right], epilogue, turned, .. } = job;
        let none = stream.empty([0])?;
        let bias = in_a_column(epilogue.bias.unwrap_or(&none))?;
        // Elements that are stored together are along an axis of their own.
        let together = if height == 128 { 8 } else { 1 };
        let [of_batch, of_row, of_column] = c.strides();
        let (shape, strides) =
            ([batches, m, n / together, together], [of_batch, of_row, together * of_column, 1]);
        let mut c = c.as_strided_mut(shape, strides)?;
        self.scratch.launch(stream, shared * shares * bm * bn, shared, |parts, arrived| {
            instance
                .with(product::Args {
                    a: &left.matrix,
                    b: &right.matrix,
                    c: &mut c,
                    parts: &mut parts.into_reshape([shared, shares, bm, bn])?,
                    arrived,
                    shares: of_tile,
                    scale: epilogue.scale,
                    bias: &bias,
                    bias_of_left: turned,
                    activation: number_of(epilogue.activation),
                    accumulate: epilogue.accumulate,
                })
                .launch(stream)
        })
    }
}
