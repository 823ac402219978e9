//! Sorted rows.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use crate::{
    Real,
    scratch::shaped,
    shape::{extent, require},
};

mod kernel;

use kernel::order;

/// An order of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The least first, and NaN last.
    Ascending,
    /// The greatest first, and NaN before all.
    Descending,
}

/// Sorts each row: `x`, `values` and `indices` have the shape `[rows, columns]`, and `indices` says where each value was.
///
/// Equal elements stay in the order in which they are, in both orders. NaN counts as greater than all other numbers, and all NaNs are
/// equal, as in `torch.sort`. Zeros of both signs are equal; among the values they have the positive one, and a NaN is one without a
/// payload.
///
/// Rows of more than 4096 columns take memory of 16 bytes for each column, which a [`capture`](kiln::Device::capture) refuses: a [`Sorter`]
/// keeps it from one call to the next.
///
/// # Errors
/// [`Error::Shape`] for different extents and for more than 2^30 columns, those of allocations and launches.
pub fn sort<T: Real>(
    stream: &Stream,
    order: Order,
    x: &impl TensorArgument<T, 2>,
    values: &mut impl TensorArgumentMut<T, 2>,
    indices: &mut impl TensorArgumentMut<i32, 2>,
) -> Result<()> {
    Sorter::new(stream)?.sort(stream, order, x, values, indices)
}

/// Sorts rows, and keeps scratch memory from one [`sort`](Sorter::sort) to the next.
///
/// One `Sorter` serves any number of shapes, types and streams of its device. Sorts of rows of more than 4096 columns wait for those before,
/// because they share the scratch memory; one of the same extents has to have run before it is recorded in a
/// [`capture`](kiln::Device::capture), which cannot allocate.
///
/// ```
/// use kiln::prelude::*;
/// use kiln_kernels::sampling::{self, Order, Sorter};
///
/// let device = Device::best_for(sampling::TARGETS)?;
/// let stream = device.stream()?;
/// let mut x = stream.zeros::<f32, 2>([1, 3])?;
/// let (mut values, mut indices) = (stream.zeros([1, 3])?, stream.zeros([1, 3])?);
/// let mut sorter = Sorter::new(&stream)?;
/// let mut sort = |stream: &Stream| sorter.sort(stream, Order::Ascending, &x, &mut values, &mut indices);
/// sort(&stream)?;
/// let graph = device.capture(sort)?;
/// stream.write(&mut x, &[3.0, 1.0, 2.0])?;
/// graph.launch(&stream)?;
/// assert_eq!(indices.to_vec(&stream)?, [1, 2, 0]);
/// # Ok::<(), kiln::Error>(())
/// ```
#[derive(Debug)]
pub struct Sorter {
    /// Words of all rows, and what they are merged to.
    words: DeviceTensor<i64, 1>,
    merged: DeviceTensor<i64, 1>,
}

impl Sorter {
    /// Sorts on the device of a stream.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(stream: &Stream) -> Result<Sorter> {
        Ok(Sorter { words: stream.empty([0])?, merged: stream.empty([0])? })
    }

    /// Sorts each row, as the function [`sort`] does.
    ///
    /// # Errors
    /// Those of [`sort`].
    pub fn sort<T: Real>(
        &mut self,
        stream: &Stream,
        order: Order,
        x: &impl TensorArgument<T, 2>,
        values: &mut impl TensorArgumentMut<T, 2>,
        indices: &mut impl TensorArgumentMut<i32, 2>,
    ) -> Result<()> {
        let shape @ [rows, columns] = x.tensor()?.shape();
        require("sort, of x", [rows, columns.min(1 << 30)], shape)?;
        require("sort, of values", shape, values.tensor_mut()?.shape())?;
        require("sort, of indices", shape, indices.tensor_mut()?.shape())?;
        if shape.contains(&0) {
            return Ok(());
        }
        let (ty, turned) = (Dtype::of::<T>(), i32::from(order == Order::Descending));
        let mut instances = order::short::instances();
        if let Some(short) = instances.find(|i| i.T == ty && columns <= extent(i.N)) {
            return short.with(order::short::Args { x, turned, values, indices }).launch(stream);
        }
        let mut words = shaped(stream, &mut self.words, shape)?;
        let mut merged = shaped(stream, &mut self.merged, shape)?;
        let runs = order::runs::find(|i| i.T == ty)?;
        runs.with(order::runs::Args { x, turned, words: &mut words }).launch(stream)?;
        let mut run = runs.N;
        while 2 * extent(run) < columns {
            order::merge(order::merge::Args { from: &words.transpose(), run, to: &mut merged })
                .launch(stream)?;
            (words, merged) = (merged, words);
            run *= 2;
        }
        order::last::find(|i| i.T == ty)?
            .with(order::last::Args { from: &words.transpose(), run, turned, values, indices })
            .launch(stream)
    }
}
