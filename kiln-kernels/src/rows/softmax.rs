//! Softmax and its logarithm.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use super::{has_clusters, has_shared, holds, is_empty, require_narrow};
use crate::{Real, shape::require};

mod kernel;
mod resident;

use kernel::{softmax as short, softmax_gradient as short_gradient, wide, wide_gradient};
use resident::{long, long_gradient, spread, spread_gradient};

/// `y = exp(x) / Σ exp(x)` along each row.
///
/// The maximum of a row is subtracted first, so nothing overflows. A row with NaN or `+inf`, and a row of `-inf` alone, is NaN.
///
/// # Errors
/// [`Error::Shape`] if `y` has another shape than `x`; those of the launch.
pub fn softmax<T: Real>(
    stream: &Stream,
    x: &impl TensorArgument<T, 2>,
    y: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    forward("softmax, of y", Scale::Linear, stream, x, y)
}

/// `y = x - ln Σ exp(x)` along each row: the logarithm of [`softmax`].
///
/// # Errors
/// Those of [`softmax`].
pub fn log_softmax<T: Real>(
    stream: &Stream,
    x: &impl TensorArgument<T, 2>,
    y: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    forward("log_softmax, of y", Scale::Logarithmic, stream, x, y)
}

/// The gradient of [`softmax`]: `dx = y · (dy - Σ y · dy)` along each row, from its result `y` and the gradient `dy` of that.
///
/// # Errors
/// [`Error::Shape`] if `dy` or `dx` has another shape than `y`; those of the launch.
pub fn softmax_backward<T: Real>(
    stream: &Stream,
    y: &impl TensorArgument<T, 2>,
    dy: &impl TensorArgument<T, 2>,
    dx: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    let operations = ["softmax_backward, of dy", "softmax_backward, of dx"];
    backward(operations, Scale::Linear, stream, y, dy, dx)
}

/// The gradient of [`log_softmax`]: `dx = dy - exp(y) · Σ dy` along each row, from its result `y` and the gradient `dy` of that.
///
/// # Errors
/// Those of [`softmax_backward`].
pub fn log_softmax_backward<T: Real>(
    stream: &Stream,
    y: &impl TensorArgument<T, 2>,
    dy: &impl TensorArgument<T, 2>,
    dx: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    let operations = ["log_softmax_backward, of dy", "log_softmax_backward, of dx"];
    backward(operations, Scale::Logarithmic, stream, y, dy, dx)
}

/// Whether the result is a probability or its logarithm.
#[derive(Clone, Copy, PartialEq)]
enum Scale {
    Linear,
    Logarithmic,
}

impl Scale {
    /// The constant `LOG` of the kernels.
    fn is_logarithmic(self) -> bool {
        self == Scale::Logarithmic
    }
}

fn forward<T: Real>(
    operation: &'static str,
    scale: Scale,
    stream: &Stream,
    x: &impl TensorArgument<T, 2>,
    y: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    let shape = x.tensor()?.shape();
    require_narrow(operation, shape)?;
    require(operation, shape, y.tensor_mut()?.shape())?;
    if is_empty(shape) {
        return Ok(());
    }
    let (ty, log) = (Dtype::of::<T>(), scale.is_logarithmic());
    let mut shorts = short::instances().filter(|i| i.T == ty && i.LOG == log);
    let mut longs = long::instances()
        .filter(|i| i.T == ty && i.LOG == log && has_shared::<T>(stream, i.N * i.P));
    let mut spreads =
        spread::instances().filter(|i| i.T == ty && i.LOG == log && has_clusters(stream));
    if let Some(instance) = shorts.find(|i| holds(i.N, shape)) {
        instance.with(short::Args { x, y }).launch(stream)
    } else if let Some(instance) = longs.find(|i| holds(i.N * i.P, shape)) {
        instance.with(long::Args { x, y }).launch(stream)
    } else if let Some(instance) = spreads.find(|i| holds(i.N * i.P * i.C, shape)) {
        instance.with(spread::Args { x, y }).launch(stream)
    } else {
        wide::find(|i| i.T == ty && i.LOG == log)?.with(wide::Args { x, y }).launch(stream)
    }
}

fn backward<T: Real>(
    [of_dy, of_dx]: [&'static str; 2],
    scale: Scale,
    stream: &Stream,
    y: &impl TensorArgument<T, 2>,
    dy: &impl TensorArgument<T, 2>,
    dx: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    let shape = y.tensor()?.shape();
    require_narrow(of_dy, shape)?;
    require(of_dy, shape, dy.tensor()?.shape())?;
    require(of_dx, shape, dx.tensor_mut()?.shape())?;
    if is_empty(shape) {
        return Ok(());
    }
    let (ty, log) = (Dtype::of::<T>(), scale.is_logarithmic());
    let mut shorts = short_gradient::instances().filter(|i| i.T == ty && i.LOG == log);
    let mut longs = long_gradient::instances()
        .filter(|i| i.T == ty && i.LOG == log && has_shared::<T>(stream, 2 * i.N * i.P));
    let mut spreads =
        spread_gradient::instances().filter(|i| i.T == ty && i.LOG == log && has_clusters(stream));
    if let Some(instance) = shorts.find(|i| holds(i.N, shape)) {
        instance.with(short_gradient::Args { y, dy, dx }).launch(stream)
    } else if let Some(instance) = longs.find(|i| holds(i.N * i.P, shape)) {
        instance.with(long_gradient::Args { y, dy, dx }).launch(stream)
    } else if let Some(instance) = spreads.find(|i| holds(i.N * i.P * i.C, shape)) {
        instance.with(spread_gradient::Args { y, dy, dx }).launch(stream)
    } else {
        wide_gradient::find(|i| i.T == ty && i.LOG == log)?
            .with(wide_gradient::Args { y, dy, dx })
            .launch(stream)
    }
}
