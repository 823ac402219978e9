//! Inputs of an op as tensors of Kiln.

use crate::{
    Call, Element, Error, Result,
    error::{Input, Names},
    place::{self, Memory},
};
use candle_core::{DType, Layout, Shape};
use kiln::TensorView;

/// A candle tensor that is an input of an op.
///
/// [`view`](Self::view) and [`flattened`](Self::flattened) give the tensor in the types of kernels. They have the
/// tensor's strides and start, so a kernel takes transposed, narrowed and broadcast tensors without a copy. On a GPU
/// they are views of candle's memory; on the CPU each call copies the elements to the emulator.
#[derive(Clone, Copy)]
pub struct Arg<'a> {
    pub(crate) call: &'a Call,
    pub(crate) input: Input,
    pub(crate) memory: Memory<'a>,
    pub(crate) layout: &'a Layout,
}

impl<'a> Arg<'a> {
    /// The dtype.
    pub fn dtype(&self) -> DType {
        self.memory.dtype()
    }

    /// The shape.
    pub fn shape(&self) -> &'a Shape {
        self.layout.shape()
    }

    /// The extents of the axes.
    pub fn dims(&self) -> &'a [usize] {
        self.layout.dims()
    }

    /// Shape, strides and start.
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// The tensor for a kernel that takes `R` axes.
    ///
    /// # Errors
    /// [`Error::Rank`], [`Error::Dtype`], [`Error::PastEnd`]; those of `Stream::upload` for a tensor on the CPU.
    pub fn view<T: Element, const R: usize>(&self) -> Result<TensorView<'a, T, R>> {
        let (shape, strides) = exact(self.call.op(), self.input, self.layout)?;
        self.with(shape, strides)
    }

    /// Like [`view`](Self::view), for a kernel that takes fewer axes: the leading axes are merged into one, so that `R`
    /// are left. A tensor with fewer axes than `R` gets leading axes of extent 1.
    ///
    /// `[batch, sequence, hidden]` as rows is `flattened::<T, 2>()`, of shape `[batch · sequence, hidden]`.
    ///
    /// # Errors
    /// [`Error::NotFlat`] when the merged axes are not contiguous to one another in memory; otherwise as
    /// [`view`](Self::view).
    pub fn flattened<T: Element, const R: usize>(&self) -> Result<TensorView<'a, T, R>> {
        let (shape, strides) = flat(self.call.op(), self.input, self.layout)?;
        self.with(shape, strides)
    }

    fn with<T: Element, const R: usize>(
        &self,
        shape: [usize; R],
        strides: [usize; R],
    ) -> Result<TensorView<'a, T, R>> {
        let op = self.call.op();
        if self.dtype() != T::CANDLE {
            return Err(self.unsupported(&[T::CANDLE]));
        }
        let offset = self.layout.start_offset();
        match self.memory {
            Memory::Cpu(storage) => {
                let Some(values) = T::of_cpu(storage) else {
                    return Err(self.unsupported(&[T::CANDLE]));
                };
                within(op, self.input, self.layout, values.len())?;
                let layout = (offset, shape, strides);
                Ok(place::upload(self.call.stream(), &values, layout)?.into_view())
            }
            #[cfg(feature = "cuda")]
            Memory::Cuda { address, elements, storage, .. } => {
                within(op, self.input, self.layout, elements)?;
                let layout = (offset, shape, strides);
                crate::cuda::view(self.call.stream(), address, layout, storage)
            }
        }
    }

    /// The error for a dtype that is not one of `required`; [`match_dtype!`](crate::match_dtype) returns it.
    pub fn unsupported(&self, required: &[DType]) -> Error {
        Error::Dtype {
            op: self.call.op(),
            input: self.input,
            required: Names(required.to_vec()),
            actual: self.dtype().as_str(),
        }
    }
}

/// Shape and strides of a layout of `R` axes.
pub(crate) fn exact<const R: usize>(
    op: &'static str,
    input: Input,
    layout: &Layout,
) -> Result<([usize; R], [usize; R])> {
    match (layout.dims().try_into(), layout.stride().try_into()) {
        (Ok(shape), Ok(strides)) => Ok((shape, strides)),
        _ => Err(Error::Rank { op, input, required: R, actual: layout.dims().to_vec() }),
    }
}

/// Shape and strides of a layout whose leading axes are merged, so that there are `R`.
pub(crate) fn flat<const R: usize>(
    op: &'static str,
    input: Input,
    layout: &Layout,
) -> Result<([usize; R], [usize; R])> {
    let (dims, steps) = (layout.dims(), layout.stride());
    let (mut shape, mut strides) = ([1; R], [1; R]);
    // The last axes stay as they are.
    let kept = dims.len().min(R.saturating_sub(1));
    let first = dims.len() - kept;
    for axis in 0..kept {
        (shape[R - kept + axis], strides[R - kept + axis]) =
            (dims[first + axis], steps[first + axis]);
    }
    let merged = merge(&dims[..first], &steps[..first]);
    let not_flat =
        || Error::NotFlat { op, input, required: R, shape: dims.to_vec(), strides: steps.to_vec() };
    let (extent, stride) = merged.ok_or_else(not_flat)?;
    match R.checked_sub(kept + 1) {
        Some(axis) => (shape[axis], strides[axis]) = (extent, stride),
        // No axes at all show one element.
        None if extent == 1 => {}
        None => return Err(not_flat()),
    }
    Ok((shape, strides))
}

/// Neighbouring axes merged into one: its extent and its stride, if there is one.
fn merge(dims: &[usize], strides: &[usize]) -> Option<(usize, usize)> {
    if dims.contains(&0) {
        return Some((0, 1));
    }
    let mut merged: Option<(usize, usize)> = None;
    for (&extent, &stride) in dims.iter().zip(strides).rev().filter(|(extent, _)| **extent > 1) {
        merged = match merged {
            None => Some((extent, stride)),
            Some((inner, step)) if stride == inner.checked_mul(step)? => {
                Some((extent.checked_mul(inner)?, step))
            }
            Some(_) => return None,
        };
    }
    Some(merged.unwrap_or((1, 1)))
}

/// Refuses a layout that reaches past the end of its storage.
pub(crate) fn within(op: &'static str, input: Input, layout: &Layout, actual: usize) -> Result<()> {
    if layout.dims().contains(&0) {
        return Ok(());
    }
    let steps = layout.dims().iter().zip(layout.stride());
    let last = steps.clone().try_fold(layout.start_offset(), |last, (extent, stride)| {
        last.checked_add((extent - 1).checked_mul(*stride)?)
    });
    let required = last.and_then(|last| last.checked_add(1)).unwrap_or(usize::MAX);
    if required <= actual { Ok(()) } else { Err(Error::PastEnd { op, input, required, actual }) }
}

impl std::fmt::Debug for Arg<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (op, input, dtype) = (self.call.op(), self.input, self.dtype().as_str());
        write!(f, "input {input} of {op}: {dtype} {:?}", self.layout)
    }
}
