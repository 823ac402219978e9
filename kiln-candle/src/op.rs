//! Ops with a gradient: candle's `CustomOp1` to `CustomOp3` in one.

use crate::{
    Arg, Call, Error, Result, Value,
    call::{Given, with_call},
    graph::{MOST_INPUTS, Node, insert},
    join::{Gradients, join},
    run::gather,
};
use candle_core::{Shape, Storage, Tensor};
use kiln::Target;
use std::sync::{Arc, OnceLock};

/// An op with `N` inputs and one output, implemented with Kiln's kernels.
///
/// [`apply`](Self::apply) gives the output, a candle tensor in its graph: `loss.backward()` calls
/// [`backward`](Self::backward). One launch serves both devices: candle's CUDA tensors are used in place, on candle's
/// stream, and CPU tensors go to Kiln's emulator.
///
/// Other parameters of an op, such as an epsilon, are fields of the type.
pub trait Op<const N: usize>: Sized + Send + Sync + 'static {
    /// The op's name in messages.
    const NAME: &'static str;

    /// The targets of the kernels, such as `rms_norm::TARGETS`. For tensors on the CPU the emulator of the newest one runs them, or the
    /// device that the environment variable `KILN_DEVICE` names.
    const TARGETS: &'static [Target];

    /// Launches the kernels and finishes the output.
    ///
    /// # Errors
    /// Errors that `?` makes from those of Kiln and candle.
    fn forward(&self, call: &Call, inputs: [Arg<'_>; N]) -> Result<Forward>;

    /// The gradients of the inputs, `None` for those that have none. Use [`run`](crate::run) to launch kernels, or
    /// candle's own operations.
    ///
    /// # Errors
    /// `BackwardNotSupported`, unless the op has one.
    fn backward(&self, step: &Backward<'_, N>) -> Result<[Option<Tensor>; N]> {
        let _ = step;
        Err(Error::Candle(candle_core::Error::BackwardNotSupported { op: Self::NAME }))
    }

    /// Applies the op. The tensors are on one device; their dtypes may differ.
    ///
    /// candle's graph has ops of up to three inputs. With more inputs, a tensor of one element stands for those from
    /// the third on; gradients reach them through it.
    ///
    /// # Errors
    /// Those of [`forward`](Self::forward); candle's if the devices differ, and on a Metal device.
    /// [`cause`](crate::cause) finds an [`Error`].
    fn apply(self, inputs: [&Tensor; N]) -> candle_core::Result<Tensor> {
        const { assert!(N > 0, "the device is that of the inputs, so there has to be one") };
        if N <= MOST_INPUTS {
            return insert(Application::<_, N>::of(self, None), &inputs);
        }
        let (known, joined) = inputs.split_at(MOST_INPUTS - 1);
        let gradients = Arc::new(Gradients::default());
        let stand_in = join(Self::NAME, joined, &gradients)?;
        let joined = joined.iter().map(|&tensor| tensor.clone()).collect();
        let known = [known, &[&stand_in]].concat();
        insert(Application::of(self, Some(Joined { inputs: joined, gradients })), &known)
    }
}

/// The result of a forward step: the output, and tensors for the backward step.
#[derive(Debug)]
pub struct Forward {
    output: Value,
    saved: Vec<Value>,
}

impl Forward {
    /// The output, and what [`Backward::saved`] gives to the backward step.
    pub fn saving(output: Value, saved: impl IntoIterator<Item = Value>) -> Self {
        Self { output, saved: saved.into_iter().collect() }
    }
}

impl From<Value> for Forward {
    fn from(output: Value) -> Self {
        Self { output, saved: Vec::new() }
    }
}

/// The input of a backward step.
#[derive(Debug)]
pub struct Backward<'a, const N: usize> {
    /// The inputs of the forward step.
    pub inputs: [&'a Tensor; N],
    /// Its output.
    pub output: &'a Tensor,
    /// The gradient of the output, with its shape and dtype; it may have any strides, such as those of a broadcast sum.
    pub gradient: &'a Tensor,
    saved: &'a [Tensor],
    op: &'static str,
}

impl<'a, const N: usize> Backward<'a, N> {
    /// The tensors that the forward step saved.
    ///
    /// # Errors
    /// [`Error::Saved`] when it saved another number of tensors.
    pub fn saved<const M: usize>(&self) -> Result<[&'a Tensor; M]> {
        let saved: Vec<&Tensor> = self.saved.iter().collect();
        let actual = saved.len();
        saved.try_into().map_err(|_| Error::Saved { op: self.op, required: M, actual })
    }
}

/// One application of an op: a node of candle's graph, and data of this application.
struct Application<O, const N: usize> {
    op: O,
    joined: Option<Joined>,
    saved: OnceLock<Vec<Tensor>>,
}

/// The inputs that candle's graph does not support: from the third on, if there are more than three.
struct Joined {
    inputs: Vec<Tensor>,
    gradients: Arc<Gradients>,
}

impl<O: Op<N>, const N: usize> Application<O, N> {
    fn of(op: O, joined: Option<Joined>) -> Self {
        Self { op, joined, saved: OnceLock::new() }
    }
}

impl<O: Op<N>, const N: usize> Node for Application<O, N> {
    fn name(&self) -> &'static str {
        O::NAME
    }

    fn forward(&self, mut given: Vec<Given<'_>>) -> candle_core::Result<(Storage, Shape)> {
        let mut joined: Vec<&Tensor> = Vec::new();
        if let Some(more) = &self.joined {
            // In the place of what stands for them.
            given.pop();
            joined.extend(&more.inputs);
        }
        let mut outcome = None;
        gather(O::NAME, &joined, given, &mut |given| {
            let Ok(given) = <[Given<'_>; N]>::try_from(given) else { return };
            let forward = |call: &Call, args: [Arg<'_>; N]| self.op.forward(call, args);
            outcome = Some(with_call(O::NAME, O::TARGETS, given, forward));
        })?;
        let Forward { output, saved } = outcome.expect("`apply` gives an op its N inputs")?;
        // candle runs the node of an application once, so there is nothing to replace.
        let _ = self.saved.set(saved.into_iter().map(Value::into_tensor).collect());
        Ok((output.storage, output.shape))
    }

    fn backward(
        &self,
        inputs: &[&Tensor],
        output: &Tensor,
        gradient: &Tensor,
    ) -> candle_core::Result<Vec<Option<Tensor>>> {
        let mut all = inputs.to_vec();
        if let Some(joined) = &self.joined {
            all.pop();
            all.extend(&joined.inputs);
        }
        let all = all.try_into().expect("`apply` gives an op its N inputs");
        let saved = self.saved.get().map_or(&[][..], Vec::as_slice);
        let step = Backward { inputs: all, output, gradient, saved, op: O::NAME };
        let mut gradients = Vec::from(self.op.backward(&step)?);
        if let Some(joined) = &self.joined {
            joined.gradients.leave(gradients.split_off(inputs.len() - 1));
        }
        Ok(gradients)
    }
}
