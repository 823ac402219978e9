//! RMS norm and layer norm.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use super::{has_clusters, has_shared, holds, is_empty, require_narrow};
use crate::{
    Real,
    shape::{clusters_at_once, count, extent, require},
};

mod backward;
mod forward;
mod gradient;
mod persistent;
mod resident;

pub use backward::NormGradients;

use persistent::persistent_norm;

use forward::{AddedArgs, OperandsArgs, long_norm, norm, spread_norm, wide_norm};

/// `y = x / √(mean(x²) + eps) · weight` along each row.
///
/// `weight` has an element for each column.
///
/// # Errors
/// [`Error::Shape`] for extents that do not fit together; those of the launch.
pub fn rms_norm<T: Real>(
    stream: &Stream,
    x: &impl TensorArgument<T, 2>,
    weight: &impl TensorArgument<T, 1>,
    eps: f32,
    y: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    Forward { operation: "rms_norm", centred: false, x, residual: None, weight, bias: None, eps }
        .launch(stream, None, y)
}

/// [`rms_norm`] of a sum: `sum = x + residual`, which is rounded and stored, and `y` is the norm of what is stored.
///
/// # Errors
/// Those of [`rms_norm`].
pub fn add_rms_norm<T: Real>(
    stream: &Stream,
    x: &impl TensorArgument<T, 2>,
    residual: &impl TensorArgument<T, 2>,
    weight: &impl TensorArgument<T, 1>,
    eps: f32,
    sum: &mut impl TensorArgumentMut<T, 2>,
    y: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    let residual = Some(residual as _);
    Forward { operation: "add_rms_norm", centred: false, x, residual, weight, bias: None, eps }
        .launch(stream, Some(sum), y)
}

/// `y = (x - mean(x)) / √(variance(x) + eps) · weight + bias` along each row, with the mean square of `x - mean(x)` as the variance.
///
/// `weight` and `bias` have an element for each column. The mean is subtracted before anything is squared, so a mean that is large beside
/// the deviation costs no accuracy.
///
/// # Errors
/// [`Error::Shape`] for extents that do not fit together; those of the launch.
pub fn layer_norm<T: Real>(
    stream: &Stream,
    x: &impl TensorArgument<T, 2>,
    weight: &impl TensorArgument<T, 1>,
    bias: Option<&dyn TensorArgument<T, 1>>,
    eps: f32,
    y: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    Forward { operation: "layer_norm", centred: true, x, residual: None, weight, bias, eps }
        .launch(stream, None, y)
}

/// [`layer_norm`] of a sum: `sum = x + residual`, which is rounded and stored, and `y` is the norm of what is stored.
///
/// # Errors
/// Those of [`layer_norm`].
#[expect(clippy::too_many_arguments, reason = "the operands of a norm")]
pub fn add_layer_norm<T: Real>(
    stream: &Stream,
    x: &impl TensorArgument<T, 2>,
    residual: &impl TensorArgument<T, 2>,
    weight: &impl TensorArgument<T, 1>,
    bias: Option<&dyn TensorArgument<T, 1>>,
    eps: f32,
    sum: &mut impl TensorArgumentMut<T, 2>,
    y: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    let residual = Some(residual as _);
    Forward { operation: "add_layer_norm", centred: true, x, residual, weight, bias, eps }.launch(
        stream,
        Some(sum),
        y,
    )
}

/// What a norm reads.
struct Forward<'a, T, X, W> {
    operation: &'static str,
    centred: bool,
    x: &'a X,
    residual: Option<&'a dyn TensorArgument<T, 2>>,
    weight: &'a W,
    bias: Option<&'a dyn TensorArgument<T, 1>>,
    eps: f32,
}

impl<T: Real, X: TensorArgument<T, 2>, W: TensorArgument<T, 1>> Forward<'_, T, X, W> {
    fn launch(
        self,
        stream: &Stream,
        mut sum: Option<&mut dyn TensorArgumentMut<T, 2>>,
        y: &mut impl TensorArgumentMut<T, 2>,
    ) -> Result<()> {
        let Forward { operation, centred, x, residual, weight, bias, eps } = self;
        let shape = x.tensor()?.shape();
        let [_, columns] = shape;
        require_narrow(operation, shape)?;
        for vector in [Some(weight as &dyn TensorArgument<T, 1>), bias].into_iter().flatten() {
            require(operation, [columns], vector.tensor()?.shape())?;
        }
        if let Some(residual) = residual {
            require(operation, shape, residual.tensor()?.shape())?;
        }
        if let Some(sum) = &mut sum {
            require(operation, shape, sum.tensor_mut()?.shape())?;
        }
        require(operation, shape, y.tensor_mut()?.shape())?;
        if is_empty(shape) {
            return Ok(());
        }
        let added = match (residual, sum) {
            (Some(residual), Some(sum)) => Some(AddedArgs { residual, sum: sum as _ }),
            _ => None,
        };
        let ty = Dtype::of::<T>();
        // A cluster reads weight and bias once for all of its rows.
        let mut persistent = persistent_norm::instances()
            .filter(|i| i.T == ty && i.CENTRED == centred && has_clusters(stream));
        if let Some(instance) = persistent.find(|i| holds(i.N * i.C, shape))
            && !holds(instance.N * instance.C / 2, shape)
            && columns.is_multiple_of(16 / T::BYTES)
            && added.is_none()
        {
            let multiprocessors = stream.device().properties().multiprocessors as usize;
            let clusters =
                count(shape[0].min(clusters_at_once(extent(instance.C), multiprocessors)))?;
            let args = persistent_norm::Args { x, weight, bias, eps, y, clusters };
            return instance.with(args).launch(stream);
        }
        let of = OperandsArgs { x, added, weight, bias, eps, y };
        let mut short = norm::instances().filter(|i| i.T == ty && i.CENTRED == centred);
        let mut long = long_norm::instances()
            .filter(|i| i.T == ty && i.CENTRED == centred && has_shared::<T>(stream, i.N * i.P));
        let mut spread = spread_norm::instances()
            .filter(|i| i.T == ty && i.CENTRED == centred && has_clusters(stream));
        if let Some(instance) = short.find(|i| holds(i.N, shape)) {
            instance.with(norm::Args { of }).launch(stream)
        } else if let Some(instance) = long.find(|i| holds(i.N * i.P, shape)) {
            instance.with(long_norm::Args { of }).launch(stream)
        } else if let Some(instance) = spread.find(|i| holds(i.N * i.P * i.C, shape)) {
            instance.with(spread_norm::Args { of }).launch(stream)
        } else {
            wide_norm::find(|i| i.T == ty && i.CENTRED == centred)?
                .with(wide_norm::Args { of })
                .launch(stream)
        }
    }
}
