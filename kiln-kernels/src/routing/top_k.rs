//! The experts of each token.

use kiln::{TensorArgument, TensorArgumentMut, prelude::*};

use crate::{
    Real,
    shape::{extent, require},
};

mod kernel;

use kernel::choice;

/// What the weight of an expert is, as a function of the scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// The softmax of the scores of all experts.
    Softmax,
    /// The softmax of the scores of the chosen experts. It is that of all experts, divided by the sum over the chosen ones.
    SoftmaxOfChosen,
    /// `1 / (1 + exp(-score))`.
    Sigmoid,
    /// [`Sigmoid`](Weights::Sigmoid), divided by the sum over the chosen experts.
    SigmoidOfChosen,
}

impl Weights {
    /// The number by which kernels know it.
    fn rule(self) -> i32 {
        match self {
            Weights::Softmax => choice::SOFTMAX,
            Weights::SoftmaxOfChosen => choice::SOFTMAX_OF_CHOSEN,
            Weights::Sigmoid => choice::SIGMOID,
            Weights::SigmoidOfChosen => choice::SIGMOID_OF_CHOSEN,
        }
    }
}

/// How [`top_k`] weighs what it chooses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TopK {
    /// The function of the scores.
    pub weights: Weights,
    /// What all weights are multiplied by.
    pub scale: f32,
}

/// The `k` experts of each token with the greatest scores, the greatest first, and their weights.
///
/// `scores` has the shape `[tokens, experts]`, `weights` and `indices` have the shape `[tokens, k]`: `k` is up to 16 and at most the number
/// of experts, which is up to 512. Of equal scores the lower index comes first. NaN counts as the greatest score, as in `torch.topk`, and
/// makes weights NaN.
///
/// With a `bias` of the shape `[experts]`, the greatest sums of bias and weight are chosen, where the weight is the softmax or the sigmoid
/// over all experts. The weights that are returned have no bias in them.
///
/// # Errors
/// [`Error::Shape`] for extents that do not fit together or are too large; those of the launch.
pub fn top_k<T: Real>(
    stream: &Stream,
    options: TopK,
    scores: &impl TensorArgument<T, 2>,
    bias: Option<&dyn TensorArgument<f32, 1>>,
    weights: &mut impl TensorArgumentMut<f32, 2>,
    indices: &mut impl TensorArgumentMut<i32, 2>,
) -> Result<()> {
    let [tokens, experts] = scores.tensor()?.shape();
    let [_, k] = indices.tensor_mut()?.shape();
    require("top_k, of indices", [tokens, k.min(experts).min(16)], indices.tensor_mut()?.shape())?;
    require("top_k, of weights", [tokens, k], weights.tensor_mut()?.shape())?;
    require("top_k, of scores", [tokens, experts.min(512)], [tokens, experts])?;
    if let Some(bias) = bias {
        require("top_k, of bias", [experts], bias.tensor()?.shape())?;
    }
    if tokens == 0 || k == 0 {
        return Ok(());
    }
    choice::choose::find(|i| i.T == Dtype::of::<T>() && experts <= extent(i.E) && k <= extent(i.K))?
        .with(choice::choose::Args {
            scores,
            bias,
            rule: options.weights.rule(),
            scale: options.scale,
            weights,
            indices,
        })
        .launch(stream)
}

/// The gradient of the scores of [`top_k`], from the gradient of its weights.
///
/// `indices` and `options` are those of [`top_k`]; `scores` and `grad_scores` have the shape `[tokens, experts]`, `grad_weights` has the
/// shape `[tokens, k]`. Which experts are chosen has no gradient, and the bias has none. An index outside of the experts counts as no
/// choice.
///
/// # Errors
/// Those of [`top_k`].
pub fn top_k_backward<T: Real>(
    stream: &Stream,
    options: TopK,
    scores: &impl TensorArgument<T, 2>,
    indices: &impl TensorArgument<i32, 2>,
    grad_weights: &impl TensorArgument<f32, 2>,
    grad_scores: &mut impl TensorArgumentMut<T, 2>,
) -> Result<()> {
    let [tokens, experts] = scores.tensor()?.shape();
    let [_, k] = indices.tensor()?.shape();
    let operation = "top_k_backward, of indices";
    require(operation, [tokens, k.min(experts).min(16)], indices.tensor()?.shape())?;
    require("top_k_backward, of grad_weights", [tokens, k], grad_weights.tensor()?.shape())?;
    require("top_k_backward, of scores", [tokens, experts.min(512)], [tokens, experts])?;
    let operation = "top_k_backward, of grad_scores";
    require(operation, [tokens, experts], grad_scores.tensor_mut()?.shape())?;
    choice::gradient::find(|i| i.T == Dtype::of::<T>() && experts <= extent(i.E))?
        .with(choice::gradient::Args {
            scores,
            indices,
            grad_weights,
            rule: options.weights.rule(),
            scale: options.scale,
            grad_scores,
        })
        .launch(stream)
}
