//! Products on data-centre Blackwell: which instance computes one, and with how many blocks.

use kiln::prelude::*;

use super::{Job, Major, Matmul, in_a_column};
use crate::{
    Real,
    activation::number_of,
    shape::{count, extent},
};

mod kernel;

use kernel::tensor_memory::product;

/// Shares of `k` are no shorter than so many steps.
const SHORTEST: usize = 4;
/// There are no more shares than so many: their sums are written and read again.
const MOST: usize = 8;

impl Matmul {
    /// A product by the tensor cores that accumulate in tensor memory. TMA takes the operands and the result.
    pub(super) fn blackwell<A: Element, B: Element, O: Real>(
        &mut self,
        stream: &Stream,
        job: Job<'_, A, B, O>,
        mut c: TensorViewMut<'_, O, 3>,
    ) -> Result<()> {
        let [batches, m, n, k] = job.shape;
        let multiprocessors = self.multiprocessors.max(1);
        let tiles = |[rows, columns]: [usize; 2]| batches * m.div_ceil(rows) * n.div_ceil(columns);
        // Two blocks compute a large tile together, if the result has more than a half of its rows and columns.
        let pairs = m.min(n) > 128 && 2 * tiles([256, 256]) >= multiprocessors;
        let along_k = job.majors().map(|major| major == Major::K);
        let types = [Dtype::of::<A>(), Dtype::of::<B>(), Dtype::of::<O>()];
        let key = (types, if pairs { 2 } else { 1 }, along_k);
        let instance = product::find(|i| ([i.T, i.U, i.R], i.C, [i.LEFT_K, i.RIGHT_K]) == key)?;
        let (cluster, columns) = (extent(instance.C), extent(instance.BN));
        let tiles = tiles([128 * cluster, columns]);
        // Multiprocessors without a tile take a share of one.
        let most = ((size_of::<A>() * k).div_ceil(128) / SHORTEST).clamp(1, MOST);
        let shares = if pairs { 1 } else { (multiprocessors / tiles).clamp(1, most) };
        let clusters = (tiles * shares).min(multiprocessors / cluster).max(1);
        let shared = if shares > 1 { tiles } else { 0 };
        let (clusters, of_tile) = (count(clusters)?, count(shares)?);
        let Job { a, b, epilogue, turned, .. } = job;
        let none = stream.empty([0])?;
        let bias = in_a_column(epilogue.bias.unwrap_or(&none))?;
        self.scratch.launch(stream, shared * shares * 128 * columns, shared, |parts, arrived| {
            instance
                .with(product::Args {
                    a: &a.matrix,
                    b: &b.matrix,
                    c: &mut c,
                    parts: &mut parts.into_reshape([shared, shares, 128, columns])?,
                    arrived,
                    clusters,
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
