//! Tensors as arguments: the fields of a kernel's `Args`.
//!
//! A field is a reference to a [`TensorArgument`], or a `&mut` reference to a [`TensorArgumentMut`] if the kernel
//! writes: a tensor, a view, a smart pointer to one, or a type of another crate. Such a type gives a [`TensorRef`] or a
//! [`TensorRefMut`], which can only be made from a shared or an exclusive borrow of a tensor. So a type cannot pass on
//! a tensor that it does not have, and none of this is unsafe.

use super::{Argument, DevicePtr, Dims, Held, IntoArgument, TensorValue, Value};
use crate::{AnyTensor, DeviceTensor, Element, Error, Image, Result, TensorView, TensorViewMut};
use std::ops::{Deref, DerefMut};

/// An argument that a kernel reads as a `Tensor<T, R>`: a [`DeviceTensor`], a view of one, or a pointer to either.
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
    message = "this argument takes a `DeviceTensor<{T}, {R}>` to read, not a `{Self}`",
    label = "`&DeviceTensor<{T}, {R}>`, or a reference to a view of one",
    note = "the kernel's parameter says the element type and the rank: a kernel reads the memory of a tensor as it is, and nothing converts it",
    note = "`stream.upload(&values, shape)?` makes a tensor of values of the host"
)]
pub trait TensorArgument<T, const R: usize> {
    /// The tensor that the kernel reads.
    ///
    /// # Errors
    /// The reason why it cannot be read; a launch returns it as its own error, with the argument's name.
    fn tensor(&self) -> Result<TensorRef<'_, T, R>>;
}

/// An argument that a kernel writes as a `TensorMut<T, R>`: a [`DeviceTensor`], an exclusive view of one, or a pointer
/// to either.
#[diagnostic::on_unimplemented(
    message = "this argument takes a `DeviceTensor<{T}, {R}>` to write, not a `{Self}`",
    label = "`&mut DeviceTensor<{T}, {R}>`, or `&mut` a view from `slice_mut` or the like",
    note = "the kernel's parameter says the element type and the rank: a kernel writes the memory of a tensor as it is, and nothing converts it",
    note = "`stream.zeros::<{T}, {R}>(shape)?` makes a tensor to write"
)]
pub trait TensorArgumentMut<T, const R: usize> {
    /// The tensor that the kernel writes, borrowed exclusively.
    ///
    /// # Errors
    /// The reason why it cannot be written; a launch returns it as its own error, with the argument's name.
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

#[diagnostic::do_not_recommend]
impl<T: Element, const R: usize> TensorArgument<T, R> for AnyTensor {
    fn tensor(&self) -> Result<TensorRef<'_, T, R>> {
        self.as_tensor().map(TensorRef::from)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element, const R: usize> TensorArgumentMut<T, R> for AnyTensor {
    fn tensor_mut(&mut self) -> Result<TensorRefMut<'_, T, R>> {
        self.as_tensor_mut().map(TensorRefMut::from)
    }
}

/// A tensor that is borrowed for `'a`, or a view that was passed by value.
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

    /// The tensor; the caller respects the borrow.
    fn into_tensor(self) -> DeviceTensor<T, R> {
        match self {
            Source::Borrowed(tensor) => tensor.alias(),
            Source::View(tensor) => tensor,
        }
    }
}

/// A tensor for a kernel to read while it is borrowed; it dereferences to it.
#[derive(Debug)]
pub struct TensorRef<'a, T, const R: usize>(Source<'a, T, R>);

/// A tensor for a kernel to write while it is borrowed exclusively; it dereferences to it.
#[derive(Debug)]
pub struct TensorRefMut<'a, T, const R: usize>(Source<'a, T, R>);

impl<'a, T, const R: usize> TensorRef<'a, T, R> {
    /// The tensor as a view, of which there are others with other shapes.
    pub fn into_view(self) -> TensorView<'a, T, R> {
        crate::tensor::shared(self.0.into_tensor())
    }
}

impl<'a, T, const R: usize> TensorRefMut<'a, T, R> {
    /// The tensor as an exclusive view, of which there are others with other shapes.
    pub fn into_view(self) -> TensorViewMut<'a, T, R> {
        crate::tensor::exclusive(self.0.into_tensor())
    }
}

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

impl<'a> IntoArgument<'a> for &'a AnyTensor {
    fn into_argument(self) -> Argument<'a> {
        of_any(self, false)
    }
}

/// A tensor that may not be written is one to read: a launch reports it if the kernel writes.
impl<'a> IntoArgument<'a> for &'a mut AnyTensor {
    fn into_argument(self) -> Argument<'a> {
        of_any(self, self.is_writable())
    }
}

fn of_any(tensor: &AnyTensor, mutable: bool) -> Argument<'_> {
    Argument(Value::Tensor(TensorValue {
        buffer: Held::Borrowed(tensor.buffer()),
        address: tensor.address(),
        shape: Dims::new(tensor.shape()),
        strides: Dims::new(tensor.strides()),
        dtype: tensor.dtype(),
        element_bytes: tensor.element_bytes(),
        mutable,
    }))
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

/// The value given for an argument; the error names the argument.
#[doc(hidden)]
pub fn __given<V>(kernel: &'static str, argument: &'static str, given: Result<V>) -> Result<V> {
    given.map_err(|cause| Error::Argument { kernel, argument, cause: Box::new(cause) })
}

/// The values of an array, or the first error.
#[doc(hidden)]
pub fn __each<A, B, const N: usize>(
    values: [A; N],
    mut of: impl FnMut(usize, A) -> Result<B>,
) -> Result<[B; N]> {
    let each = values.into_iter().enumerate().map(|(index, value)| of(index, value));
    let each: Vec<B> = each.collect::<Result<_>>()?;
    let Ok(all) = each.try_into() else { unreachable!("one value is made of each") };
    Ok(all)
}

/// As [`__each`], of the arguments of an array for a kernel's own grid.
#[doc(hidden)]
pub fn __array_of<V, const N: usize>(of: impl FnMut(usize) -> Option<V>) -> Option<[V; N]> {
    (0..N).map(of).collect::<Option<Vec<V>>>()?.try_into().ok()
}

/// What is passed for each argument of an array or a struct that is absent.
#[doc(hidden)]
pub const __ABSENT: Argument<'static> = Argument(Value::Absent);

/// Whether all of these arguments are absent: those of an array or a struct that is.
#[doc(hidden)]
pub fn __are_absent(arguments: &[Argument<'_>], first: usize, count: usize) -> bool {
    let of = arguments.get(first..first + count).unwrap_or_default();
    !of.is_empty() && of.iter().all(|argument| matches!(argument.0, Value::Absent))
}

/// The name of the parameter at a position of the entry: `xs[1]`.
#[doc(hidden)]
pub fn __name_of(images: &'static [Image], position: usize) -> &'static str {
    let params = images.first().map_or(&[][..], |image| image.params);
    params.get(position).map_or("", |param| param.name)
}

/// The tensor behind an argument, for a kernel's own grid; `None` if it is of another type.
#[doc(hidden)]
pub fn __tensor_of<'x, T: Element, const R: usize>(
    arguments: &'x [Argument<'_>],
    index: usize,
) -> Option<TensorView<'x, T, R>> {
    match &arguments.get(index)?.0 {
        Value::Tensor(tensor) => DeviceTensor::of_argument(tensor),
        Value::Pointer { .. } | Value::Scalar { .. } | Value::Absent => None,
    }
}

/// As [`__tensor_of`], for a scalar.
#[doc(hidden)]
pub fn __scalar_of<T: Element>(arguments: &[Argument<'_>], index: usize) -> Option<T> {
    match &arguments.get(index)?.0 {
        Value::Scalar { bits, dtype, .. } if *dtype == T::DTYPE => Some(T::from_bits(*bits)),
        Value::Scalar { .. } | Value::Tensor(_) | Value::Pointer { .. } | Value::Absent => None,
    }
}

/// As [`__tensor_of`], for a pointer.
#[doc(hidden)]
pub fn __pointer_of<T: Element>(arguments: &[Argument<'_>], index: usize) -> Option<DevicePtr<T>> {
    DevicePtr::of_argument(arguments.get(index)?)
}

/// As the function `of` that reads an argument, for a parameter that is an `Option`: the inner one is `None` for an argument that is
/// absent.
#[doc(hidden)]
pub fn __option_of<'x, 'a, V>(
    arguments: &'x [Argument<'a>],
    index: usize,
    of: impl FnOnce(&'x [Argument<'a>], usize) -> Option<V>,
) -> Option<Option<V>> {
    match &arguments.get(index)?.0 {
        Value::Absent => Some(None),
        Value::Tensor(_) | Value::Pointer { .. } | Value::Scalar { .. } => {
            of(arguments, index).map(Some)
        }
    }
}
