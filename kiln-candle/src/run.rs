//! Kernels on candle's tensors without a gradient.

use crate::{
    Arg, Call, Result,
    call::{Given, Values, with_call},
    place::Source,
};
#[cfg(feature = "cuda")]
use candle_core::CudaStorage;
use candle_core::{CpuStorage, CustomOp1, Layout, Shape, Tensor};
use kiln::Target;
use std::cell::RefCell;

/// Runs kernels on candle's tensors: `body` launches them, and what it returns becomes tensors.
///
/// `name` is the name of the call in messages. `targets` are those of its kernels, such as `rms_norm::TARGETS`; for
/// tensors on the CPU the emulator of the newest one runs it. No gradient goes through the result; use an
/// [`Op`](crate::Op) for that.
///
/// ```
/// mod kernels {
///     use kiln::prelude::*;
///
///     #[kernel(target = sm_80, warps = 4, grid = cdiv(out.dim(0), 256))]
///     pub fn double(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
///         let at = [block_id(0) * 256];
///         out.tile(at, [256]).store(x.tile(at, [256]).load() * 2.0);
///     }
/// }
///
/// use candle_core::{Device, Tensor};
/// use kernels::double;
/// use kiln_candle::run;
///
/// let x = Tensor::new(&[1f32, 2.0, 3.0], &Device::Cpu)?;
/// let y = run("double", double::TARGETS, [&x], |call, [x]| {
///     let view = x.view::<f32, 1>()?;
///     let mut out = call.empty(view.shape())?;
///     double(double::Args { x: &view, out: &mut out }).launch(call.stream())?;
///     out.finish(x.shape())
/// })?;
/// assert_eq!(y.to_vec1::<f32>()?, [2.0, 4.0, 6.0]);
/// # Ok::<(), candle_core::Error>(())
/// ```
///
/// # Errors
/// Those of `body`; [`Error::Devices`](crate::Error::Devices) when the tensors are on several devices; candle's for a
/// tensor on a Metal device, on which Kiln's kernels do not run. [`cause`](crate::cause) finds an
/// [`Error`](crate::Error).
pub fn run<const N: usize, V: Values>(
    name: &'static str,
    targets: &[Target],
    inputs: [&Tensor; N],
    body: impl FnOnce(&Call, [Arg<'_>; N]) -> Result<V>,
) -> candle_core::Result<V::Tensors> {
    const { assert!(N > 0, "the device is that of the inputs, so there has to be one") };
    let mut body = Some(body);
    let mut outcome = None;
    gather(name, &inputs, Vec::with_capacity(N), &mut |given| {
        let (Some(body), Ok(given)) = (body.take(), given.try_into()) else { return };
        outcome = Some(with_call(name, targets, given, body));
    })?;
    let values = outcome.expect("every tensor was gathered, so the body has run")?;
    Ok(values.into_tensors())
}

/// Calls `body` with the storages of all tensors, after those that are already `given`.
///
/// candle gives a storage only to an op, and holds its lock while the op runs. So each tensor has its own op, which
/// runs the ops of the tensors after it. (`Tensor::storage_and_layout` would lock a storage twice if two tensors share
/// it, which deadlocks if a writer waits in between.)
pub(crate) fn gather(
    name: &'static str,
    tensors: &[&Tensor],
    given: Vec<Given<'_>>,
    body: &mut dyn FnMut(Vec<Given<'_>>),
) -> candle_core::Result<()> {
    let Some((first, rest)) = tensors.split_first() else {
        body(given);
        return Ok(());
    };
    let mut outcome = None;
    let entered = |source: Source<'_>, layout: &Layout| {
        let mut given = given;
        given.push((source, layout));
        outcome = Some(gather(name, rest, given, body));
    };
    let refused = first.apply_op1_no_bwd(&Enter { name, entered: RefCell::new(Some(entered)) });
    match (outcome, refused) {
        (Some(outcome), _) => outcome,
        // candle runs no op on this device.
        (None, Err(error)) => Err(error),
        (None, Ok(_)) => unreachable!("`Enter` gives no storage"),
    }
}

/// An op that only takes the storage that candle gives it. It makes none, so it always fails.
struct Enter<F> {
    name: &'static str,
    entered: RefCell<Option<F>>,
}

impl<F: FnOnce(Source<'_>, &Layout)> Enter<F> {
    fn enter<T>(&self, source: Source<'_>, layout: &Layout) -> candle_core::Result<T> {
        if let Some(entered) = self.entered.take() {
            entered(source, layout);
        }
        Err(candle_core::Error::UnwrapNone)
    }
}

impl<F: FnOnce(Source<'_>, &Layout)> CustomOp1 for Enter<F> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn cpu_fwd(
        &self,
        storage: &CpuStorage,
        layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        self.enter(Source::Cpu(storage), layout)
    }

    #[cfg(feature = "cuda")]
    fn cuda_fwd(
        &self,
        storage: &CudaStorage,
        layout: &Layout,
    ) -> candle_core::Result<(CudaStorage, Shape)> {
        self.enter(Source::Cuda(storage), layout)
    }
}
