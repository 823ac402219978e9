//! Ops that change a candle tensor in place.

#[cfg(feature = "cuda")]
use crate::place::Source;
use crate::{
    Arg, Call, Element, Error, Result, arg,
    error::{Input, Names},
    place::{self, Memory},
};
#[cfg(feature = "cuda")]
use candle_core::CudaStorage;
use candle_core::{CpuStorage, DType, InplaceOp1, InplaceOp2, InplaceOp3, Layout, Tensor};
use kiln::{DeviceTensor, Target, TensorArgumentMut, TensorRefMut, TensorViewMut};
use std::ops::Deref;

/// An op that changes a tensor, given up to two others.
///
/// candle refuses a target whose elements coincide, and an input that shares its storage with the target. No gradient
/// goes through a change in place. Other parameters of an op are fields of the type.
///
/// ```
/// mod kernels {
///     use kiln::prelude::*;
///
///     /// y += alpha · x
///     #[kernel(target = sm_80, warps = 4, grid = cdiv(y.dim(0), 256))]
///     pub fn axpy(alpha: f32, x: Tensor<f32, 1>, y: TensorMut<f32, 1>) {
///         let at = [block_id(0) * 256];
///         let sum = y.tile(at, [256]).load() + x.tile(at, [256]).load() * alpha;
///         y.tile(at, [256]).store(sum);
///     }
/// }
///
/// use candle_core::{Device, IndexOp, Tensor};
/// use kernels::axpy;
/// use kiln_candle::{Arg, ArgMut, Call, Edited, InPlaceOp, Result};
///
/// struct Axpy {
///     alpha: f32,
/// }
///
/// impl InPlaceOp<1> for Axpy {
///     const NAME: &'static str = "axpy";
///     const TARGETS: &'static [kiln::Target] = axpy::TARGETS;
///
///     fn change(&self, call: &Call, target: ArgMut<'_>, [x]: [Arg<'_>; 1]) -> Result<()> {
///         let x = x.view::<f32, 1>()?;
///         target.edit(|y: &mut Edited<'_, f32, 1>| {
///             axpy(axpy::Args { alpha: self.alpha, x: &x, y }).launch(call.stream())
///         })
///     }
/// }
///
/// let y = Tensor::new(&[[1f32, 2.0, 3.0], [4.0, 5.0, 6.0]], &Device::Cpu)?;
/// let x = Tensor::new(&[1f32, 1.0], &Device::Cpu)?;
/// Axpy { alpha: 10.0 }.apply(&y.i((.., 2))?, [&x])?; // the last column
/// assert_eq!(y.to_vec2::<f32>()?, [[1.0, 2.0, 13.0], [4.0, 5.0, 16.0]]);
/// # Ok::<(), candle_core::Error>(())
/// ```
pub trait InPlaceOp<const N: usize>: Sized {
    /// The op's name in messages.
    const NAME: &'static str;

    /// The targets of the kernels; see [`Op::TARGETS`](crate::Op::TARGETS).
    const TARGETS: &'static [Target];

    /// Launches the kernels.
    ///
    /// # Errors
    /// Errors that `?` makes from those of Kiln and candle.
    fn change(&self, call: &Call, target: ArgMut<'_>, inputs: [Arg<'_>; N]) -> Result<()>;

    /// Changes `target`.
    ///
    /// # Errors
    /// Those of [`change`](Self::change); candle's if devices differ, storages are shared or elements of the target
    /// coincide, and on a Metal device.
    fn apply(&self, target: &Tensor, inputs: [&Tensor; N]) -> candle_core::Result<()> {
        const {
            assert!(
                N <= 2,
                "candle's ops in place have up to two tensors besides the one that they change"
            );
        };
        let change = Change::<_, N>(self);
        match inputs.as_slice() {
            [] => target.inplace_op1(&change),
            [a] => target.inplace_op2(a, &change),
            [a, b] => target.inplace_op3(a, b, &change),
            _ => unreachable!("N is at most 2"),
        }
    }
}

/// The tensor that an op in place changes.
pub struct ArgMut<'a> {
    call: &'a Call,
    memory: MemoryMut<'a>,
    layout: &'a Layout,
}

/// The storage of a tensor, borrowed exclusively.
enum MemoryMut<'a> {
    Cpu(&'a mut CpuStorage),
    #[cfg(feature = "cuda")]
    Cuda(&'a mut CudaStorage),
}

impl ArgMut<'_> {
    /// The dtype.
    pub fn dtype(&self) -> DType {
        match &self.memory {
            MemoryMut::Cpu(storage) => place::dtype_of(storage),
            #[cfg(feature = "cuda")]
            MemoryMut::Cuda(storage) => crate::cuda::dtype_of(storage),
        }
    }

    /// Shape, strides and start.
    pub fn layout(&self) -> &Layout {
        self.layout
    }

    /// Runs `launch` with the tensor for a kernel that takes `R` axes. On a GPU it is a view of candle's memory; on the
    /// CPU the elements are copied to the emulator before, and back after.
    ///
    /// # Errors
    /// Those of `launch`; [`Error::Rank`], [`Error::Dtype`], [`Error::PastEnd`].
    pub fn edit<T: Element, const R: usize, E>(
        self,
        launch: impl FnOnce(&mut Edited<'_, T, R>) -> Result<(), E>,
    ) -> Result<()>
    where
        Error: From<E>,
    {
        let (shape, strides) = arg::exact(self.call.op(), Input::Target, self.layout)?;
        self.with(shape, strides, launch)
    }

    /// Like [`edit`](Self::edit), for a kernel that takes fewer axes; see [`Arg::flattened`].
    ///
    /// # Errors
    /// [`Error::NotFlat`]; otherwise as [`edit`](Self::edit).
    pub fn edit_flattened<T: Element, const R: usize, E>(
        self,
        launch: impl FnOnce(&mut Edited<'_, T, R>) -> Result<(), E>,
    ) -> Result<()>
    where
        Error: From<E>,
    {
        let (shape, strides) = arg::flat(self.call.op(), Input::Target, self.layout)?;
        self.with(shape, strides, launch)
    }

    fn with<T: Element, const R: usize, E>(
        self,
        shape: [usize; R],
        strides: [usize; R],
        launch: impl FnOnce(&mut Edited<'_, T, R>) -> Result<(), E>,
    ) -> Result<()>
    where
        Error: From<E>,
    {
        let (op, stream, offset) = (self.call.op(), self.call.stream(), self.layout.start_offset());
        if self.dtype() != T::CANDLE {
            return Err(self.unsupported(&[T::CANDLE]));
        }
        match self.memory {
            MemoryMut::Cpu(storage) => {
                let values = T::of_cpu(storage).expect("the dtype has been compared");
                arg::within(op, Input::Target, self.layout, values.len())?;
                let mut tensor = place::upload(stream, &values, (offset, shape, strides))?;
                drop(values);
                launch(&mut Edited::of(tensor.view_mut()))?;
                let span = place::span_of(&shape, &strides);
                let changed = tensor.into_strided(0, [span], [1])?.to_vec(stream)?;
                T::write_cpu(storage, offset, &changed);
                Ok(())
            }
            #[cfg(feature = "cuda")]
            MemoryMut::Cuda(storage) => {
                arg::within(op, Input::Target, self.layout, crate::cuda::len_of(storage))?;
                crate::cuda::edit(stream, storage, (offset, shape, strides), launch)
            }
        }
    }

    /// The error for a dtype that is not one of `required`; [`match_dtype!`](crate::match_dtype) returns it.
    pub fn unsupported(&self, required: &[DType]) -> Error {
        Error::Dtype {
            op: self.call.op(),
            input: Input::Target,
            required: Names(required.to_vec()),
            actual: self.dtype().as_str(),
        }
    }
}

impl std::fmt::Debug for ArgMut<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (op, dtype) = (self.call.op(), self.dtype().as_str());
        write!(f, "the target of {op}: {dtype} {:?}", self.layout)
    }
}

/// The tensor that an op in place changes, for a launch: a kernel reads and writes it.
#[derive(Debug)]
pub struct Edited<'a, T, const R: usize>(TensorViewMut<'a, T, R>);

impl<'a, T, const R: usize> Edited<'a, T, R> {
    pub(crate) fn of(view: TensorViewMut<'a, T, R>) -> Self {
        Self(view)
    }
}

/// Shape and strides. There is no `DerefMut`: a tensor that could be swapped for another one could outlive candle's
/// memory.
impl<T, const R: usize> Deref for Edited<'_, T, R> {
    type Target = DeviceTensor<T, R>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T, const R: usize> TensorArgumentMut<T, R> for Edited<'_, T, R> {
    fn tensor_mut(&mut self) -> kiln::Result<TensorRefMut<'_, T, R>> {
        Ok((&mut *self.0).into())
    }
}

/// candle's traits for an op.
struct Change<'a, O, const N: usize>(&'a O);

impl<O: InPlaceOp<N>, const N: usize> Change<'_, O, N> {
    fn cpu(
        &self,
        (storage, layout): (&mut CpuStorage, &Layout),
        inputs: &[(&CpuStorage, &Layout)],
    ) -> candle_core::Result<()> {
        let inputs: [_; N] = inputs.try_into().expect("`apply` gives an op its N inputs");
        let call = Call::on_cpu(O::NAME, O::TARGETS)?;
        let args = call.args(inputs.map(|(storage, layout)| (Memory::Cpu(storage), layout)));
        let target = ArgMut { call: &call, memory: MemoryMut::Cpu(storage), layout };
        Ok(self.0.change(&call, target, args)?)
    }

    #[cfg(feature = "cuda")]
    fn cuda(
        &self,
        (storage, layout): (&mut CudaStorage, &Layout),
        inputs: &[(&CudaStorage, &Layout)],
    ) -> candle_core::Result<()> {
        let inputs: [_; N] = inputs.try_into().expect("`apply` gives an op its N inputs");
        let inputs = inputs.map(|(storage, layout)| (Source::Cuda(storage), layout));
        let device = storage.device.clone();
        Ok(crate::cuda::with_call(O::NAME, &device, inputs, |call, args| {
            let target = ArgMut { call, memory: MemoryMut::Cuda(storage), layout };
            self.0.change(call, target, args)
        })?)
    }
}

/// Implements candle's trait for a number of inputs.
macro_rules! in_place_op {
    ($trait:ident: $($storage:ident $layout:ident),*) => {
        impl<O: InPlaceOp<N>, const N: usize> $trait for Change<'_, O, N> {
            fn name(&self) -> &'static str {
                O::NAME
            }

            fn cpu_fwd(
                &self,
                target: &mut CpuStorage,
                layout: &Layout,
                $($storage: &CpuStorage, $layout: &Layout),*
            ) -> candle_core::Result<()> {
                self.cpu((target, layout), &[$(($storage, $layout)),*])
            }

            #[cfg(feature = "cuda")]
            fn cuda_fwd(
                &self,
                target: &mut CudaStorage,
                layout: &Layout,
                $($storage: &CudaStorage, $layout: &Layout),*
            ) -> candle_core::Result<()> {
                self.cuda((target, layout), &[$(($storage, $layout)),*])
            }
        }
    };
}

in_place_op!(InplaceOp1:);
in_place_op!(InplaceOp2: s1 l1);
in_place_op!(InplaceOp3: s1 l1, s2 l2);
