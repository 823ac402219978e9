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

/// An op of `N` inputs and one output, made of Kiln's kernels.
///
/// [`apply`](Self::apply) gives the output, a tensor of candle's with a place in its graph: `loss.backward()` calls
/// [`backward`](Self::backward). Kernels are launched in one place for both devices: candle's CUDA tensors are used where they are, on
/// candle's stream, and CPU tensors by way of Kiln's emulator.
///
/// What an op needs besides its inputs, such as an epsilon, are fields of the type.
pub trait Op<const N: usize>: Sized + Send + Sync + 'static {
    /// What messages call the op.
    const NAME: &'static str;

    /// The targets of the kernels, such as `rms_norm::TARGETS`. For tensors on the CPU the emulator of the newest one runs them, or the
    /// device that the environment variable `KILN_DEVICE` names.
    const TARGETS: &'static [Target];

    /// Launches the kernels and finishes the output.
    ///
    /// # Errors
    /// Whatever `?` makes of Kiln's errors and candle's.
    fn forward(&self, call: &Call, inputs: [Arg<'_>; N]) -> Result<Forward>;

    /// The gradients of the inputs, `None` for those that have none. [`run`](crate::run) launches kernels, and candle's own operations
    /// are there as well.
    ///
    /// # Errors
    /// `BackwardNotSupported`, unless the op has one.
    fn backward(&self, step: &Backward<'_, N>) -> Result<[Option<Tensor>; N]> {
        let _ = step;
        Err(Error::Candle(candle_core::Error::BackwardNotSupported { op: Self::NAME }))
    }

    /// Applies the op. The tensors are on one device; their dtypes may differ.
    ///
    /// candle's graph has ops of up to three inputs. With more of them, those from the third on hang on a tensor of one element, which
    /// stands for them in the graph; gradients reach them through it.
    ///
    /// # Errors
    /// Those of [`forward`](Self::forward); candle's where the devices differ, and on a Metal device. [`cause`](crate::cause) finds an
    /// [`Error`] again.
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

/// What a forward step leaves: the output, and tensors for the backward step.
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

/// What a backward step is given.
#[derive(Debug)]
pub struct Backward<'a, const N: usize> {
    /// The inputs of the forward step.
    pub inputs: [&'a Tensor; N],
    /// Its output.
    pub output: &'a Tensor,
    /// The gradient of the output, of its shape and dtype; with any strides, as of a broadcast sum.
    pub gradient: &'a Tensor,
    saved: &'a [Tensor],
    op: &'static str,
}

impl<'a, const N: usize> Backward<'a, N> {
    /// The tensors that the forward step saved.
    ///
    /// # Errors
    /// [`Error::Saved`] when it saved another number of them.
    pub fn saved<const M: usize>(&self) -> Result<[&'a Tensor; M]> {
        let saved: Vec<&Tensor> = self.saved.iter().collect();
        let actual = saved.len();
        saved.try_into().map_err(|_| Error::Saved { op: self.op, required: M, actual })
    }
}

/// One application of an op: a node of candle's graph, and what belongs to this application alone.
struct Application<O, const N: usize> {
    op: O,
    joined: Option<Joined>,
    saved: OnceLock<Vec<Tensor>>,
}

/// The inputs that candle's graph has no place for: from the third on, where there are more than three.
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
