//! Rows along a permutation and back.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use super::Permutation;
use crate::{Real, shape::require};

mod kernel;

use kernel::moves;

/// Columns of a block: the wider window, unless it clearly goes further beyond the ends of rows.
fn width(columns: usize) -> i32 {
    if columns.div_ceil(2048) * 8 <= columns.div_ceil(256) * 9 / 8 { 2048 } else { 256 }
}

/// Copies the row of each token to the rows of its choices, times the weights if there are any: `x` has the shape `[tokens, dim]`, `out`
/// the shape `[capacity, dim]` of the permutation, `weights` the shape `[tokens, k]`. Rows of gaps become zeros.
///
/// The derivative of [`permute`] without weights is [`unpermute`] without weights.
///
/// # Errors
/// [`Error::Shape`] for extents that do not fit together, those of launches.
#[doc(alias = "scatter_rows")]
pub fn permute<T: Real>(
    stream: &Stream,
    permutation: &Permutation,
    x: &impl TensorArgument<T, 2>,
    weights: Option<&dyn TensorArgument<f32, 2>>,
    out: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    let [_, columns] = x.tensor()?.shape();
    let shape @ [tokens, _] = permutation.rows().shape();
    require("permute, of x", [tokens, columns], x.tensor()?.shape())?;
    require("permute, of out", [permutation.capacity(), columns], out.tensor_mut()?.shape())?;
    if let Some(weights) = weights {
        require("permute, of weights", shape, weights.tensor()?.shape())?;
    }
    let (ty, width) = (Dtype::of::<T>(), width(columns));
    moves::to_experts::find(|i| i.T == ty && i.C == width)?
        .with(moves::to_experts::Args { rows: permutation.rows(), x, weights, out: &mut *out })
        .launch(stream)?;
    clear(stream, permutation, out)
}

/// The sum of the rows of each token's choices, times the weights if there are any: `x` has the shape `[capacity, dim]` of the permutation,
/// `out` the shape `[tokens, dim]`, `weights` the shape `[tokens, k]`.
///
/// Sums are computed in f32, in the order of the choices. A choice without a row adds nothing.
///
/// # Errors
/// [`Error::Shape`] for extents that do not fit together, those of the launch.
#[doc(alias = "combine")]
pub fn unpermute<T: Real>(
    stream: &Stream,
    permutation: &Permutation,
    x: &impl TensorArgument<T, 2>,
    weights: Option<&dyn TensorArgument<f32, 2>>,
    out: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    let [_, columns] = out.tensor_mut()?.shape();
    let shape @ [tokens, _] = permutation.rows().shape();
    require("unpermute, of x", [permutation.capacity(), columns], x.tensor()?.shape())?;
    require("unpermute, of out", [tokens, columns], out.tensor_mut()?.shape())?;
    if let Some(weights) = weights {
        require("unpermute, of weights", shape, weights.tensor()?.shape())?;
    }
    let (ty, width) = (Dtype::of::<T>(), width(columns));
    moves::from_experts::find(|i| i.T == ty && i.C == width)?
        .with(moves::from_experts::Args { rows: permutation.rows(), x, weights, out })
        .launch(stream)
}

/// The gradients of [`unpermute`] with weights: that of `x`, `[capacity, dim]`, zeros in gaps, and that of the weights, `[tokens, k]`, from
/// `x`, the weights and the gradient of the result, `grad` of the shape `[tokens, dim]`.
///
/// Without weights, the gradient of `x` is [`permute`] of `grad`.
///
/// # Errors
/// [`Error::Shape`] for extents that do not fit together, those of launches.
pub fn unpermute_backward<T: Real>(
    stream: &Stream,
    permutation: &Permutation,
    x: &impl TensorArgument<T, 2>,
    weights: &impl TensorArgument<f32, 2>,
    grad: &impl TensorArgument<T, 2>,
    grad_x: &mut impl TensorArgumentMut<T, 2>,
    grad_weights: &mut impl TensorArgumentMut<f32, 2>,
) -> Result<()> {
    let [_, columns] = grad.tensor()?.shape();
    let shape @ [tokens, _] = permutation.rows().shape();
    let along = [permutation.capacity(), columns];
    require("unpermute_backward, of x", along, x.tensor()?.shape())?;
    require("unpermute_backward, of weights", shape, weights.tensor()?.shape())?;
    require("unpermute_backward, of grad", [tokens, columns], grad.tensor()?.shape())?;
    require("unpermute_backward, of grad_x", along, grad_x.tensor_mut()?.shape())?;
    require("unpermute_backward, of grad_weights", shape, grad_weights.tensor_mut()?.shape())?;
    moves::gradients::Values { T: Dtype::of::<T>() }
        .find()?
        .with(moves::gradients::Args {
            rows: permutation.rows(),
            x,
            weights,
            grad,
            grad_x: &mut *grad_x,
            grad_weights,
        })
        .launch(stream)?;
    clear(stream, permutation, grad_x)
}

/// Zeros in the rows of gaps.
fn clear<T: Real>(
    stream: &Stream,
    permutation: &Permutation,
    out: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    moves::clear::Values { T: Dtype::of::<T>() }
        .find()?
        .with(moves::clear::Args { sources: permutation.sources(), out })
        .launch(stream)
}
