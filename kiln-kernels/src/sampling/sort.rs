//! Sorted rows.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use crate::{
    Real,
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
/// Rows of more than 4096 columns take memory of 16 bytes for each column, which a [`capture`](kiln::Device::capture) refuses.
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
    let shape @ [rows, columns] = x.tensor()?.shape();
    require("sort, of x", [rows, columns.min(1 << 30)], shape)?;
    require("sort, of values", shape, values.tensor_mut()?.shape())?;
    require("sort, of indices", shape, indices.tensor_mut()?.shape())?;
    if shape.contains(&0) {
        return Ok(());
    }
    let (ty, turned) = (Dtype::of::<T>(), i32::from(order == Order::Descending));
    if let Some(short) = order::short::instances().find(|i| i.T == ty && columns <= extent(i.N)) {
        return short.with(order::short::Args { x, turned, values, indices }).launch(stream);
    }
    let mut words = stream.empty::<i64, 2>(shape)?;
    let mut merged = stream.empty::<i64, 2>(shape)?;
    order::runs::find(|i| i.T == ty)?
        .with(order::runs::Args { x, turned, words: &mut words })
        .launch(stream)?;
    let mut run = order::RUN;
    while extent(run) < columns {
        order::merge(order::merge::Args { from: &words, run, to: &mut merged }).launch(stream)?;
        (words, merged) = (merged, words);
        run *= 2;
    }
    order::unpack::find(|i| i.T == ty)?
        .with(order::unpack::Args { words: &words, turned, values, indices })
        .launch(stream)
}
