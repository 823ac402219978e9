//! Products on cards of any generation from Ampere on: which instance computes one, and how many blocks share a tile.

use kiln::prelude::*;

use super::{Epilogue, FEW_ROWS, Job, Major, Matmul, in_a_column};
use crate::{
    Real,
    activation::number_of,
    shape::{count, extent},
    shares::shares,
};

mod kernel;

use kernel::pipelined::{float8, product};

impl Matmul {
    /// A product of any strides, by the kernel that all cards run.
    pub(super) fn plain<A: Element, B: Element, O: Real>(
        &mut self,
        stream: &Stream,
        job: Job<'_, A, B, O>,
        mut c: TensorViewMut<'_, O, 3>,
    ) -> Result<()> {
        let [batches, m, n, k] = job.shape;
        let majors = job.majors();
        let aligned = job.is_for_tma(&c); // 16 bytes are stored at a time
        let tiles = |[rows, columns]: [usize; 2]| batches * m.div_ceil(rows) * n.div_ceil(columns);
        let types = [Dtype::of::<A>(), Dtype::of::<B>(), Dtype::of::<O>()];
        // Of operands of two types there is no small tile.
        let height = if m <= FEW_ROWS && majors[0] == Major::K && types[0] == types[1] {
            16
        } else if aligned && tiles([128, 128]) >= self.multiprocessors {
            128
        } else {
            64
        };
        let along_k = majors.map(|major| major == Major::K);
        let instance = if size_of::<A>() == 1 {
            Instance::Float8(float8::find(|i| ([i.T, i.U, i.R], i.BM) == (types, height))?)
        } else {
            let key = (types, height, along_k);
            Instance::Product(product::find(|i| {
                ([i.T, i.U, i.R], i.BM, [i.LEFT_K, i.RIGHT_K]) == key
            })?)
        };
        let [bm, bn] = instance.tile();
        let tiles = tiles([bm, bn]);
        // Many tiles keep all multiprocessors busy as they are.
        let multiprocessors = self.multiprocessors.max(1);
        let shares = if height == 128 || tiles >= 2 * multiprocessors {
            1
        } else {
            shares(tiles, size_of::<A>() * k, multiprocessors)
        };
        let shared = if shares > 1 { tiles } else { 0 };
        let of_tile = count(shares)?;
        let Job { a, b, epilogue, turned, .. } = job;
        let none = stream.empty([0])?;
        let bias = in_a_column(epilogue.bias.unwrap_or(&none))?;
        // Elements that are stored together are along an axis of their own.
        let together = if height == 128 { 16 / size_of::<O>() } else { 1 };
        let [of_batch, of_row, of_column] = c.strides();
        let (shape, strides) =
            ([batches, m, n / together, together], [of_batch, of_row, together * of_column, 1]);
        let mut c = c.as_strided_mut(shape, strides)?;
        self.scratch.launch(stream, shared * shares * bm * bn, shared, |parts, arrived| {
            let parts = &mut parts.into_reshape([shared, shares, bm, bn])?;
            let (c, bias) = (&mut c, &bias);
            let Epilogue { scale, accumulate, .. } = epilogue;
            let activation = number_of(epilogue.activation);
            match instance {
                Instance::Product(instance) => instance
                    .with(product::Args {
                        a: &a.matrix,
                        b: &b.matrix,
                        c,
                        parts,
                        arrived,
                        shares: of_tile,
                        scale,
                        bias,
                        bias_of_left: turned,
                        activation,
                        accumulate,
                    })
                    .launch(stream),
                Instance::Float8(instance) => instance
                    .with(float8::Args {
                        a: &a.matrix,
                        b: &b.matrix,
                        c,
                        parts,
                        arrived,
                        shares: of_tile,
                        scale,
                        bias,
                        bias_of_left: turned,
                        activation,
                        accumulate,
                    })
                    .launch(stream),
            }
        })
    }
}

/// A kernel for a tile.
#[derive(Clone, Copy)]
enum Instance {
    Product(product::Instance),
    /// Of FP8.
    Float8(float8::Instance),
}

impl Instance {
    /// Rows and columns of a tile.
    fn tile(self) -> [usize; 2] {
        match self {
            Instance::Product(instance) => [instance.BM, instance.BN],
            Instance::Float8(instance) => [instance.BM, instance.BN],
        }
        .map(extent)
    }
}
