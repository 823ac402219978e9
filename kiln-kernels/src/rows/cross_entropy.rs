//! Cross-entropy of rows of logits and the classes that they should have.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use super::{holds, is_empty, require_narrow};
use crate::{Real, shape::require};

mod kernel;

use kernel::{logit_gradients, losses, wide_losses};

/// How [`cross_entropy`] takes its targets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrossEntropy {
    /// Rows with this target do not count: their loss and their gradient are 0.
    pub ignore: i32,
    /// How much of a target is spread evenly over all classes, 0 to 1.
    pub smoothing: f32,
}

/// Rows with the target -100 do not count, and nothing is smoothed.
impl Default for CrossEntropy {
    fn default() -> Self {
        CrossEntropy { ignore: -100, smoothing: 0.0 }
    }
}

/// `loss = ln Σ exp(logits) - logits[target]` for each row: `-ln` of the probability that softmax gives the target.
///
/// With a smoothing `e` the loss is `1 - e` times that and `e` times its mean over all classes as targets. `log_sums` gets `ln Σ
/// exp(logits)`, which [`cross_entropy_backward`] needs; 0 for rows that are ignored, which are not read if they are long. The loss of a
/// target that is no class is NaN. So is that of a row with NaN or `+inf`, and that of a row of `-inf` alone.
///
/// # Errors
/// [`Error::Shape`] for extents that do not fit together; those of the launch.
pub fn cross_entropy<T: Real>(
    stream: &Stream,
    logits: &impl TensorArgument<T, 2>,
    targets: &impl TensorArgument<i32, 1>,
    options: CrossEntropy,
    loss: &mut impl TensorArgumentMut<f32, 1>,
    mut log_sums: Option<&mut dyn TensorArgumentMut<f32, 1>>,
) -> Result<()> {
    let shape = logits.tensor()?.shape();
    let [rows, _] = shape;
    require_narrow("cross_entropy, of logits", shape)?;
    require("cross_entropy, of targets", [rows], targets.tensor()?.shape())?;
    require("cross_entropy, of loss", [rows], loss.tensor_mut()?.shape())?;
    if let Some(log_sums) = &mut log_sums {
        require("cross_entropy, of log_sums", [rows], log_sums.tensor_mut()?.shape())?;
    }
    if rows == 0 {
        return Ok(());
    }
    // A shorter borrow, for the launch.
    let log_sums = log_sums.map(|log_sums| log_sums as _);
    let (ty, CrossEntropy { ignore, smoothing }) = (Dtype::of::<T>(), options);
    match losses::instances().filter(|i| i.T == ty).find(|i| holds(i.N, shape)) {
        Some(instance) => instance
            .with(losses::Args { logits, targets, ignore, smoothing, loss, log_sums })
            .launch(stream),
        None => wide_losses::find(|i| i.T == ty)?
            .with(wide_losses::Args { logits, targets, ignore, smoothing, loss, log_sums })
            .launch(stream),
    }
}

/// The gradient of [`cross_entropy`] with respect to the logits: `(softmax(logits) - target) · loss_gradient` for each row.
///
/// `log_sums` is what [`cross_entropy`] stored, and `loss_gradient` has an element for each row: one over the number of rows that count,
/// for the mean of the losses. The gradient of a target that is no class is NaN.
///
/// # Errors
/// [`Error::Shape`] for extents that do not fit together; those of the launch.
pub fn cross_entropy_backward<T: Real>(
    stream: &Stream,
    logits: &impl TensorArgument<T, 2>,
    targets: &impl TensorArgument<i32, 1>,
    options: CrossEntropy,
    log_sums: &impl TensorArgument<f32, 1>,
    loss_gradient: &impl TensorArgument<f32, 1>,
    gradient: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    let shape = logits.tensor()?.shape();
    require("cross_entropy_backward, of the gradient", shape, gradient.tensor_mut()?.shape())?;
    let saved = Saved { targets, options, log_sums, loss_gradient };
    saved.gradients(stream, Some(logits), gradient)
}

/// [`cross_entropy_backward`] in place: the gradient replaces the logits.
///
/// # Errors
/// Those of [`cross_entropy_backward`].
pub fn cross_entropy_backward_in_place<T: Real>(
    stream: &Stream,
    logits: &mut impl TensorArgumentMut<T, 2>,
    targets: &impl TensorArgument<i32, 1>,
    options: CrossEntropy,
    log_sums: &impl TensorArgument<f32, 1>,
    loss_gradient: &impl TensorArgument<f32, 1>,
) -> Result<()> {
    let saved = Saved { targets, options, log_sums, loss_gradient };
    saved.gradients(stream, None, logits)
}

/// What the gradient depends on besides the logits.
struct Saved<'a, L, S, G> {
    targets: &'a L,
    options: CrossEntropy,
    log_sums: &'a S,
    loss_gradient: &'a G,
}

impl<L, S, G> Saved<'_, L, S, G>
where
    L: TensorArgument<i32, 1>,
    S: TensorArgument<f32, 1>,
    G: TensorArgument<f32, 1>,
{
    fn gradients<T: Real>(
        self,
        stream: &Stream,
        logits: Option<&dyn TensorArgument<T, 2>>,
        gradient: &mut impl TensorArgumentMut<T, 2>,
    ) -> Result<()> {
        let Saved { targets, options, log_sums, loss_gradient } = self;
        let shape = gradient.tensor_mut()?.shape();
        let [rows, _] = shape;
        require_narrow("cross_entropy_backward, of logits", shape)?;
        require("cross_entropy_backward, of targets", [rows], targets.tensor()?.shape())?;
        require("cross_entropy_backward, of log_sums", [rows], log_sums.tensor()?.shape())?;
        let of = "cross_entropy_backward, of the gradient of the loss";
        require(of, [rows], loss_gradient.tensor()?.shape())?;
        if is_empty(shape) {
            return Ok(());
        }
        let (ty, CrossEntropy { ignore, smoothing }) = (Dtype::of::<T>(), options);
        let instances = || logit_gradients::instances().filter(|i| i.T == ty);
        let widest = || logit_gradients::find(|i| i.T == ty && i.R == 1);
        let instance = instances().find(|i| holds(i.N, shape)).map_or_else(widest, Ok)?;
        let args = logit_gradients::Args {
            logits,
            targets,
            log_sums,
            loss_gradient,
            ignore,
            smoothing,
            gradient,
        };
        instance.with(args).launch(stream)
    }
}
