//! Nodes of candle's graph: one trait for `CustomOp1`, `CustomOp2` and `CustomOp3`.

use crate::{call::Given, place::Source};
#[cfg(feature = "cuda")]
use candle_core::CudaStorage;
use candle_core::{
    CpuStorage, CustomOp1, CustomOp2, CustomOp3, Layout, Result, Shape, Storage, Tensor, bail,
};

/// An operation of candle's graph.
pub(crate) trait Node: Send + Sync + 'static {
    fn name(&self) -> &'static str;

    /// Computes the output, on the device of the inputs.
    fn forward(&self, inputs: Vec<Given<'_>>) -> Result<(Storage, Shape)>;

    /// The gradients of the inputs.
    fn backward(
        &self,
        inputs: &[&Tensor],
        output: &Tensor,
        gradient: &Tensor,
    ) -> Result<Vec<Option<Tensor>>>;
}

/// The most inputs that a node can have.
pub(crate) const MOST_INPUTS: usize = 3;

/// Puts a node with one to three inputs into the graph, and gives its output.
pub(crate) fn insert(node: impl Node, inputs: &[&Tensor]) -> Result<Tensor> {
    match inputs {
        [a] => a.apply_op1(Inserted(node)),
        [a, b] => a.apply_op2(b, Inserted(node)),
        [a, b, c] => a.apply_op3(b, c, Inserted(node)),
        _ => bail!("{}: {} inputs, of 1 to {MOST_INPUTS} possible", node.name(), inputs.len()),
    }
}

struct Inserted<N>(N);

impl<N: Node> Inserted<N> {
    fn cpu(&self, inputs: &[(&CpuStorage, &Layout)]) -> Result<(CpuStorage, Shape)> {
        let given = inputs.iter().map(|&(storage, layout)| (Source::Cpu(storage), layout));
        match self.0.forward(given.collect())? {
            (Storage::Cpu(storage), shape) => Ok((storage, shape)),
            (Storage::Cuda(_) | Storage::Metal(_), _) => self.elsewhere(),
        }
    }

    #[cfg(feature = "cuda")]
    fn cuda(&self, inputs: &[(&CudaStorage, &Layout)]) -> Result<(CudaStorage, Shape)> {
        let given = inputs.iter().map(|&(storage, layout)| (Source::Cuda(storage), layout));
        match self.0.forward(given.collect())? {
            (Storage::Cuda(storage), shape) => Ok((storage, shape)),
            (Storage::Cpu(_) | Storage::Metal(_), _) => self.elsewhere(),
        }
    }

    fn elsewhere<T>(&self) -> Result<T> {
        bail!("{}: the output is of another call, on another device", self.0.name())
    }

    fn gradients<const I: usize>(
        &self,
        inputs: [&Tensor; I],
        output: &Tensor,
        gradient: &Tensor,
    ) -> Result<[Option<Tensor>; I]> {
        let mut gradients = self.0.backward(&inputs, output, gradient)?.into_iter();
        let mut complete = [const { None }; I];
        for (to, input) in complete.iter_mut().zip(inputs) {
            *to = match gradients.next().flatten() {
                // candle goes on from here to whatever the input came from, and relies on a gradient.
                None if input.track_op() && !input.is_variable() => Some(input.zeros_like()?),
                gradient => gradient,
            };
        }
        Ok(complete)
    }
}

/// Implements candle's trait for a number of inputs.
macro_rules! custom_op {
    ($trait:ident, $gradients:ty: $($storage:ident $layout:ident),+) => {
        impl<N: Node> $trait for Inserted<N> {
            fn name(&self) -> &'static str {
                self.0.name()
            }

            fn cpu_fwd(
                &self,
                $($storage: &CpuStorage, $layout: &Layout),+
            ) -> Result<(CpuStorage, Shape)> {
                self.cpu(&[$(($storage, $layout)),+])
            }

            #[cfg(feature = "cuda")]
            fn cuda_fwd(
                &self,
                $($storage: &CudaStorage, $layout: &Layout),+
            ) -> Result<(CudaStorage, Shape)> {
                self.cuda(&[$(($storage, $layout)),+])
            }

            fn bwd(
                &self,
                $($storage: &Tensor,)+
                output: &Tensor,
                gradient: &Tensor,
            ) -> Result<$gradients> {
                let [$($storage),+] = self.gradients([$($storage),+], output, gradient)?;
                Ok(($($storage),+))
            }
        }
    };
}

custom_op!(CustomOp1, Option<Tensor>: s1 l1);
custom_op!(CustomOp2, (Option<Tensor>, Option<Tensor>): s1 l1, s2 l2);
custom_op!(CustomOp3, (Option<Tensor>, Option<Tensor>, Option<Tensor>): s1 l1, s2 l2, s3 l3);
