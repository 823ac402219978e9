//! Tensors as arguments: what the fields of a kernel's `Args` take.
//!
//! A field is a reference to anything that is a [`TensorArgument`], and `&mut` a [`TensorArgumentMut`] where the kernel writes: a tensor,
//! a view, a smart pointer to one, or a type of another crate. What it gives is a [`TensorRef`] or a [`TensorRefMut`], and these are
//! made from a shared or an exclusive borrow of a tensor alone. So a type cannot pass on what it has not got, and none of
//! this is unsafe.

use super::{Argument, Dims, Held, IntoArgument, TensorValue, Value};
use crate::{DeviceTensor, Result, TensorView, TensorViewMut};
use std::ops::{Deref, DerefMut};

/// What a kernel reads as a `Tensor<T, R>`: a [`DeviceTensor`], a view of one, or a pointer to either.
///
/// A crate implements it for its own tensors. The example hands on a part of a tensor, whichever is asked for:
///
/// ```
/// use kernel_runtime::{DeviceTensor, Result, TensorArgument, TensorRef};
///
/// struct Page<'a> {
///     cache: &'a DeviceTensor<f32, 3>,
///     number: usize,
/// }
///
/// impl TensorArgument<f32, 2> for Page<'_> {
///     fn tensor(&self) -> Result<TensorRef<'_, f32, 2>> {
///         let [_, rows, columns] = self.cache.shape();
///         let page = self.cache.slice(0, self.number..self.number + 1)?;
///         Ok(page.reshape([rows, columns])?.into())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "this argument reads a `DeviceTensor<{T}, {R}>`, and `{Self}` is none",
    label = "`&DeviceTensor<{T}, {R}>` is taken here, or a reference to a view of one"
)]
pub trait TensorArgument<T, const R: usize> {
    /// The tensor that the kernel reads.
    ///
    /// # Errors
    /// Whatever keeps it from being read; a launch gives that as its own error, with the argument's name.
    fn tensor(&self) -> Result<TensorRef<'_, T, R>>;
}

/// What a kernel writes as a `TensorMut<T, R>`: a [`DeviceTensor`], an exclusive view of one, or a pointer to either.
#[diagnostic::on_unimplemented(
    message = "this argument writes a `DeviceTensor<{T}, {R}>`, and `{Self}` is none that may be written",
    label = "`&mut DeviceTensor<{T}, {R}>` is taken here, or `&mut` a view from `slice_mut` and the like"
)]
pub trait TensorArgumentMut<T, const R: usize> {
    /// The tensor that the kernel writes, borrowed for nobody else.
    ///
    /// # Errors
    /// Whatever keeps it from being written; a launch gives that as its own error, with the argument's name.
    fn tensor_mut(&mut self) -> Result<TensorRefMut<'_, T, R>>;
}

#[diagnostic::do_not_recommend]
impl<T, const R: usize> TensorArgument<T, R> for DeviceTensor<T, R> {
    fn tensor(&self) -> Result<TensorRef<'_, T, R>> {
        Ok(self.into())
    }
}

#[diagnostic::do_not_recommend]
impl<T, const R: usize> TensorArgumentMut<T, R> for DeviceTensor<T, R> {
    fn tensor_mut(&mut self) -> Result<TensorRefMut<'_, T, R>> {
        Ok(self.into())
    }
}

#[diagnostic::do_not_recommend]
impl<T, const R: usize, P> TensorArgument<T, R> for P
where
    P: Deref<Target = DeviceTensor<T, R>>,
{
    fn tensor(&self) -> Result<TensorRef<'_, T, R>> {
        Ok((&**self).into())
    }
}

#[diagnostic::do_not_recommend]
impl<T, const R: usize, P> TensorArgumentMut<T, R> for P
where
    P: DerefMut<Target = DeviceTensor<T, R>>,
{
    fn tensor_mut(&mut self) -> Result<TensorRefMut<'_, T, R>> {
        Ok((&mut **self).into())
    }
}

/// A tensor that is borrowed for `'a`, or a view that was given away.
#[derive(Debug)]
enum Source<'a, T, const R: usize> {
    Borrowed(&'a DeviceTensor<T, R>),
    View(DeviceTensor<T, R>),
}

impl<T, const R: usize> Source<'_, T, R> {
    fn tensor(&self) -> &DeviceTensor<T, R> {
        match self {
            Source::Borrowed(tensor) => tensor,
            Source::View(tensor) => tensor,
        }
    }
}

/// A tensor for a kernel to read while it is borrowed; it dereferences to it.
#[derive(Debug)]
pub struct TensorRef<'a, T, const R: usize>(Source<'a, T, R>);

/// A tensor for a kernel to write while it is borrowed for nobody else; it dereferences to it.
#[derive(Debug)]
pub struct TensorRefMut<'a, T, const R: usize>(Source<'a, T, R>);

impl<T, const R: usize> Deref for TensorRef<'_, T, R> {
    type Target = DeviceTensor<T, R>;
    fn deref(&self) -> &Self::Target {
        self.0.tensor()
    }
}

impl<T, const R: usize> Deref for TensorRefMut<'_, T, R> {
    type Target = DeviceTensor<T, R>;
    fn deref(&self) -> &Self::Target {
        self.0.tensor()
    }
}

impl<'a, T, const R: usize> From<&'a DeviceTensor<T, R>> for TensorRef<'a, T, R> {
    fn from(tensor: &'a DeviceTensor<T, R>) -> Self {
        Self(Source::Borrowed(tensor))
    }
}

impl<'a, T, const R: usize> From<TensorView<'a, T, R>> for TensorRef<'a, T, R> {
    fn from(view: TensorView<'a, T, R>) -> Self {
        Self(Source::View(view.into_tensor()))
    }
}

impl<'a, T, const R: usize> From<TensorViewMut<'a, T, R>> for TensorRef<'a, T, R> {
    fn from(view: TensorViewMut<'a, T, R>) -> Self {
        Self(Source::View(view.into_tensor()))
    }
}

impl<'a, T, const R: usize> From<&'a mut DeviceTensor<T, R>> for TensorRefMut<'a, T, R> {
    fn from(tensor: &'a mut DeviceTensor<T, R>) -> Self {
        Self(Source::Borrowed(tensor))
    }
}

impl<'a, T, const R: usize> From<TensorViewMut<'a, T, R>> for TensorRefMut<'a, T, R> {
    fn from(view: TensorViewMut<'a, T, R>) -> Self {
        Self(Source::View(view.into_tensor()))
    }
}

impl<'a, T, const R: usize> IntoArgument<'a> for TensorRef<'a, T, R> {
    fn into_argument(self) -> Argument<'a> {
        erased(self.0, false)
    }
}

impl<'a, T, const R: usize> IntoArgument<'a> for TensorRefMut<'a, T, R> {
    fn into_argument(self) -> Argument<'a> {
        erased(self.0, true)
    }
}

impl<'a, T, const R: usize> IntoArgument<'a> for &'a DeviceTensor<T, R> {
    fn into_argument(self) -> Argument<'a> {
        erased(Source::Borrowed(self), false)
    }
}

impl<'a, T, const R: usize> IntoArgument<'a> for &'a mut DeviceTensor<T, R> {
    fn into_argument(self) -> Argument<'a> {
        erased(Source::Borrowed(self), true)
    }
}

impl<'a, T, const R: usize> IntoArgument<'a> for TensorView<'a, T, R> {
    fn into_argument(self) -> Argument<'a> {
        erased(Source::View(self.into_tensor()), false)
    }
}

impl<'a, T, const R: usize> IntoArgument<'a> for TensorViewMut<'a, T, R> {
    fn into_argument(self) -> Argument<'a> {
        erased(Source::View(self.into_tensor()), true)
    }
}

fn erased<T, const R: usize>(source: Source<'_, T, R>, mutable: bool) -> Argument<'_> {
    let tensor = source.tensor();
    let (address, dtype, element_bytes) =
        (tensor.address(), tensor.dtype(), tensor.element_bytes());
    let (shape, strides) = (Dims::new(&tensor.shape()), Dims::new(&tensor.strides()));
    let buffer = match source {
        Source::Borrowed(tensor) => Held::Borrowed(tensor.buffer()),
        Source::View(tensor) => Held::Owned(tensor.into_parts().0),
    };
    let value = TensorValue { buffer, address, shape, strides, dtype, element_bytes, mutable };
    Argument(Value::Tensor(value))
}
