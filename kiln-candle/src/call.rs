//! One call of an op: the stream that it launches on, and its outputs.

use crate::{
    Arg, Element, Error, Result,
    error::Input,
    place::{self, Memory, Place, Source},
};
use candle_core::{Layout, Shape, Storage, Tensor, op::BackpropOp};
use kiln::{DeviceTensor, Stream, Target};
use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
};

/// One call of an op.
///
/// Launch on its [`stream`](Self::stream), into tensors that the call makes.
pub struct Call {
    op: &'static str,
    stream: Stream,
    place: Place,
}

impl Call {
    /// A call for tensors on the CPU.
    pub(crate) fn on_cpu(op: &'static str, targets: &[Target]) -> Result<Self> {
        Ok(Self { op, stream: place::stream_for_cpu(targets)?, place: Place::Cpu })
    }

    /// A call for tensors of the candle device with this stream.
    #[cfg(feature = "cuda")]
    pub(crate) fn on_cuda(
        op: &'static str,
        stream: Stream,
        device: candle_core::CudaDevice,
    ) -> Self {
        Self { op, stream, place: Place::Cuda(device) }
    }

    /// The inputs, ready for kernels.
    pub(crate) fn args<'a, const N: usize>(
        &'a self,
        ready: [(Memory<'a>, &'a Layout); N],
    ) -> [Arg<'a>; N] {
        let mut numbers = 0..;
        ready.map(|(memory, layout)| {
            let input = Input::Number(numbers.next().unwrap_or_default());
            Arg { call: self, input, memory, layout }
        })
    }

    /// The stream to launch on: candle's own on a GPU, so that work stays in candle's order and the host does not wait;
    /// a stream of the emulator for tensors on the CPU.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The op's name.
    pub fn op(&self) -> &'static str {
        self.op
    }

    /// A new row-major tensor of unspecified content, which a kernel has to write completely. On a GPU candle allocates
    /// it.
    ///
    /// # Errors
    /// Those of `Stream::empty`; candle's, if it cannot allocate.
    pub fn empty<T: Element, const R: usize>(&self, shape: [usize; R]) -> Result<Output<T, R>> {
        let (tensor, memory) = match &self.place {
            Place::Cpu => (self.stream.empty(shape)?, OutputMemory::Cpu(PhantomData)),
            #[cfg(feature = "cuda")]
            Place::Cuda(device) => {
                let (tensor, slice) = crate::cuda::empty(&self.stream, device, shape)?;
                (tensor, OutputMemory::Cuda(slice, device.clone()))
            }
        };
        Ok(Output { op: self.op, stream: self.stream.clone(), tensor, memory })
    }

    /// Like [`empty`](Self::empty), of zeros.
    ///
    /// # Errors
    /// As [`empty`](Self::empty).
    pub fn zeros<T: Element, const R: usize>(&self, shape: [usize; R]) -> Result<Output<T, R>> {
        self.full(shape, T::default())
    }

    /// Like [`empty`](Self::empty), of one value.
    ///
    /// # Errors
    /// As [`empty`](Self::empty).
    pub fn full<T: Element, const R: usize>(
        &self,
        shape: [usize; R],
        value: T,
    ) -> Result<Output<T, R>> {
        let mut output = self.empty(shape)?;
        self.stream.fill(&mut output.tensor, value)?;
        Ok(output)
    }
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a call of {} on {:?}", self.op, self.stream)
    }
}

/// A tensor that a call makes. It is a [`DeviceTensor`] for launches; [`finish`](Self::finish) turns it into a candle
/// tensor.
#[derive(Debug)]
pub struct Output<T: Element, const R: usize> {
    op: &'static str,
    stream: Stream,
    tensor: DeviceTensor<T, R>,
    memory: OutputMemory<T>,
}

/// The owner of an output's memory.
enum OutputMemory<T: Element> {
    /// Kiln; candle gets a copy.
    Cpu(PhantomData<T>),
    /// candle, so that nothing has to be copied.
    #[cfg(feature = "cuda")]
    Cuda(crate::cuda::Slice<T>, candle_core::CudaDevice),
}

impl<T: Element> std::fmt::Debug for OutputMemory<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Cpu(_) => "Kiln's",
            #[cfg(feature = "cuda")]
            Self::Cuda(..) => "candle's",
        })
    }
}

impl<T: Element, const R: usize> Output<T, R> {
    /// The elements, in row-major order, as a candle tensor with this shape.
    ///
    /// On the CPU this copies them out of the emulator; on a GPU it is the same memory, and nothing waits.
    ///
    /// # Errors
    /// [`Error::OutputShape`] when the shape has another number of elements; [`Error::Kept`] when something else holds the tensor; [`kiln::Error::Driver`] on the CPU, when a kernel failed on the device that `KILN_DEVICE` names.
    pub fn finish(self, shape: impl Into<Shape>) -> Result<Value> {
        let shape = shape.into();
        let Self { op, stream, tensor, memory } = self;
        if shape.elem_count() != tensor.len() {
            let (required, actual) = (shape.into_dims(), tensor.shape().to_vec());
            return Err(Error::OutputShape { op, required, actual });
        }
        let storage = match memory {
            OutputMemory::Cpu(_) => Storage::Cpu(T::into_cpu(tensor.to_vec(&stream)?)),
            #[cfg(feature = "cuda")]
            OutputMemory::Cuda(slice, device) => {
                drop(tensor);
                Storage::Cuda(crate::cuda::finish::<T>(op, slice, device)?)
            }
        };
        Ok(Value { storage, shape })
    }
}

impl<T: Element, const R: usize> Deref for Output<T, R> {
    type Target = DeviceTensor<T, R>;
    fn deref(&self) -> &Self::Target {
        &self.tensor
    }
}

impl<T: Element, const R: usize> DerefMut for Output<T, R> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.tensor
    }
}

/// A finished output that becomes a candle tensor.
#[derive(Debug)]
pub struct Value {
    pub(crate) storage: Storage,
    pub(crate) shape: Shape,
}

impl Value {
    /// A tensor without a history, so no gradient goes through it.
    pub(crate) fn into_tensor(self) -> Tensor {
        Tensor::from_storage(self.storage, self.shape, BackpropOp::none(), false)
    }
}

/// What a function over [`Arg`]s may return: one [`Value`], an array or a `Vec` of them, or nothing.
pub trait Values {
    /// One tensor for each value.
    type Tensors;
    #[doc(hidden)]
    fn into_tensors(self) -> Self::Tensors;
}

impl Values for () {
    type Tensors = ();
    fn into_tensors(self) {}
}

impl Values for Value {
    type Tensors = Tensor;
    fn into_tensors(self) -> Tensor {
        self.into_tensor()
    }
}

impl<const M: usize> Values for [Value; M] {
    type Tensors = [Tensor; M];
    fn into_tensors(self) -> [Tensor; M] {
        self.map(Value::into_tensor)
    }
}

impl Values for Vec<Value> {
    type Tensors = Vec<Tensor>;
    fn into_tensors(self) -> Vec<Tensor> {
        self.into_iter().map(Value::into_tensor).collect()
    }
}

/// An input's storage with its layout.
pub(crate) type Given<'a> = (Source<'a>, &'a Layout);

/// Runs the body of an op where its inputs are. There is at least one.
pub(crate) fn with_call<const N: usize, O>(
    op: &'static str,
    targets: &[Target],
    given: [Given<'_>; N],
    body: impl FnOnce(&Call, [Arg<'_>; N]) -> Result<O>,
) -> Result<O> {
    let required = given[0].0.location();
    for (number, (source, _)) in given.iter().enumerate() {
        let actual = source.location();
        if actual != required {
            let input = Input::Number(number);
            return Err(Error::Devices { op, input, required, actual });
        }
    }
    match given[0].0 {
        Source::Cpu(_) => {
            let call = Call::on_cpu(op, targets)?;
            body(&call, call.args(given.map(|(source, layout)| (source.on_cpu(), layout))))
        }
        #[cfg(feature = "cuda")]
        Source::Cuda(first) => crate::cuda::with_call(op, &first.device, given, body),
    }
}
