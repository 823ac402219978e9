//! Views: other shapes and strides over a tensor's memory.

use super::{DeviceTensor, count, row_major, span_of};
use crate::{Error, Result};
use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut, Range},
    sync::Arc,
};

/// A shared view of a [`DeviceTensor`], which it dereferences to.
#[derive(Debug)]
pub struct TensorView<'a, T, const R: usize> {
    tensor: DeviceTensor<T, R>,
    borrow: PhantomData<&'a DeviceTensor<T, R>>,
}

/// An exclusive view of a [`DeviceTensor`], which it dereferences to.
///
/// While it exists the tensor cannot be used otherwise, so a kernel may write through it.
#[derive(Debug)]
pub struct TensorViewMut<'a, T, const R: usize> {
    tensor: DeviceTensor<T, R>,
    borrow: PhantomData<&'a mut DeviceTensor<T, R>>,
}

impl<T, const R: usize> TensorView<'_, T, R> {
    /// The viewed tensor; the caller respects the view's borrow.
    pub(crate) fn into_tensor(self) -> DeviceTensor<T, R> {
        self.tensor
    }
}

impl<T, const R: usize> TensorViewMut<'_, T, R> {
    /// The viewed tensor; the caller respects the view's borrow.
    pub(crate) fn into_tensor(self) -> DeviceTensor<T, R> {
        self.tensor
    }
}

impl<T, const R: usize> Deref for TensorView<'_, T, R> {
    type Target = DeviceTensor<T, R>;
    fn deref(&self) -> &Self::Target {
        &self.tensor
    }
}

impl<T, const R: usize> Deref for TensorViewMut<'_, T, R> {
    type Target = DeviceTensor<T, R>;
    fn deref(&self) -> &Self::Target {
        &self.tensor
    }
}

impl<T, const R: usize> DerefMut for TensorViewMut<'_, T, R> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.tensor
    }
}

impl<T, const R: usize> DeviceTensor<T, R> {
    /// The whole tensor as a view.
    pub fn view(&self) -> TensorView<'_, T, R> {
        shared(self.alias())
    }

    /// The whole tensor as an exclusive view.
    pub fn view_mut(&mut self) -> TensorViewMut<'_, T, R> {
        exclusive(self.alias())
    }

    /// The elements whose index along `axis` lies in `range`.
    ///
    /// # Errors
    /// [`Error::View`] when the tensor has no such axis, or the range does not lie within it.
    pub fn slice(&self, axis: usize, range: Range<usize>) -> Result<TensorView<'_, T, R>> {
        self.sliced(axis, range).map(shared)
    }

    /// As [`Self::slice`], exclusive.
    ///
    /// # Errors
    /// As [`Self::slice`].
    pub fn slice_mut(
        &mut self,
        axis: usize,
        range: Range<usize>,
    ) -> Result<TensorViewMut<'_, T, R>> {
        self.sliced(axis, range).map(exclusive)
    }

    /// The axes in reverse order: rows and columns exchanged.
    pub fn transpose(&self) -> TensorView<'_, T, R> {
        shared(self.transposed())
    }

    /// As [`Self::transpose`], exclusive.
    pub fn transpose_mut(&mut self) -> TensorViewMut<'_, T, R> {
        exclusive(self.transposed())
    }

    /// The axes in another order: axis `i` of the view is axis `axes[i]` of the tensor.
    ///
    /// # Errors
    /// [`Error::View`] when `axes` does not name every axis once.
    pub fn permute(&self, axes: [usize; R]) -> Result<TensorView<'_, T, R>> {
        self.permuted(axes).map(shared)
    }

    /// As [`Self::permute`], exclusive.
    ///
    /// # Errors
    /// As [`Self::permute`].
    pub fn permute_mut(&mut self, axes: [usize; R]) -> Result<TensorViewMut<'_, T, R>> {
        self.permuted(axes).map(exclusive)
    }

    /// The same elements, in row-major order, under another shape.
    ///
    /// # Errors
    /// [`Error::NotContiguous`]; [`Error::Shape`] when the number of elements differs.
    pub fn reshape<const S: usize>(&self, shape: [usize; S]) -> Result<TensorView<'_, T, S>> {
        self.reshaped(shape).map(shared)
    }

    /// As [`Self::reshape`], exclusive.
    ///
    /// # Errors
    /// As [`Self::reshape`].
    pub fn reshape_mut<const S: usize>(
        &mut self,
        shape: [usize; S],
    ) -> Result<TensorViewMut<'_, T, S>> {
        self.reshaped(shape).map(exclusive)
    }

    /// Any shape and strides within the memory between the tensor's first and last element. Elements
    /// may coincide: a stride of 0 repeats a row.
    ///
    /// # Errors
    /// [`Error::View`] when an element lies outside.
    pub fn as_strided<const S: usize>(
        &self,
        shape: [usize; S],
        strides: [usize; S],
    ) -> Result<TensorView<'_, T, S>> {
        self.strided(shape, strides).map(shared)
    }

    /// As [`Self::as_strided`], exclusive. A launch refuses to write to a view whose elements coincide.
    ///
    /// # Errors
    /// As [`Self::as_strided`].
    pub fn as_strided_mut<const S: usize>(
        &mut self,
        shape: [usize; S],
        strides: [usize; S],
    ) -> Result<TensorViewMut<'_, T, S>> {
        self.strided(shape, strides).map(exclusive)
    }

    /// The tensor as a view that owns the memory and borrows nothing.
    pub fn into_view(self) -> TensorView<'static, T, R> {
        shared(self)
    }

    /// The tensor with any shape and strides; element 0 is the element `offset` in memory, counted from the tensor's
    /// first. As with [`Self::as_strided`], elements lie between the tensor's first and last, and may coincide.
    ///
    /// # Errors
    /// [`Error::View`] when an element lies outside.
    pub fn into_strided<const S: usize>(
        self,
        offset: usize,
        shape: [usize; S],
        strides: [usize; S],
    ) -> Result<DeviceTensor<T, S>> {
        self.strided_from(offset, shape, strides)
    }

    /// The same tensor over the same memory; the caller respects the borrow.
    pub(crate) fn alias(&self) -> Self {
        self.with(0, self.shape, self.strides)
    }

    /// The same memory under another shape; `offset` counts elements from element 0.
    fn with<const S: usize>(
        &self,
        offset: usize,
        shape: [usize; S],
        strides: [usize; S],
    ) -> DeviceTensor<T, S> {
        DeviceTensor {
            buffer: Arc::clone(&self.buffer),
            offset_bytes: self.offset_bytes + offset * self.element_bytes,
            shape,
            strides,
            dtype: self.dtype,
            element_bytes: self.element_bytes,
            element: PhantomData,
        }
    }

    fn sliced(&self, axis: usize, range: Range<usize>) -> Result<Self> {
        let fits = axis < R && range.start <= range.end && range.end <= self.shape[axis];
        if !fits {
            let actual = format!("{}..{} of axis {axis}", range.start, range.end);
            return Err(self.misfit("slice", actual));
        }
        let mut shape = self.shape;
        shape[axis] = range.end - range.start;
        // An empty slice may start past the last element; no address is needed for it.
        let offset = if shape.contains(&0) { 0 } else { range.start * self.strides[axis] };
        Ok(self.with(offset, shape, self.strides))
    }

    fn transposed(&self) -> Self {
        let (mut shape, mut strides) = (self.shape, self.strides);
        shape.reverse();
        strides.reverse();
        self.with(0, shape, strides)
    }

    fn permuted(&self, axes: [usize; R]) -> Result<Self> {
        let mut sorted = axes;
        sorted.sort_unstable();
        if sorted.iter().enumerate().any(|(axis, named)| axis != *named) {
            return Err(self.misfit("permute", format!("{axes:?}")));
        }
        Ok(self.with(0, axes.map(|axis| self.shape[axis]), axes.map(|axis| self.strides[axis])))
    }

    fn reshaped<const S: usize>(&self, shape: [usize; S]) -> Result<DeviceTensor<T, S>> {
        self.require_contiguous("reshape")?;
        if count(&shape) != Some(self.len()) {
            return Err(Error::Shape {
                operation: "reshape",
                required: self.shape.to_vec(),
                actual: shape.to_vec(),
            });
        }
        Ok(self.with(0, shape, row_major(shape)))
    }

    fn strided<const S: usize>(
        &self,
        shape: [usize; S],
        strides: [usize; S],
    ) -> Result<DeviceTensor<T, S>> {
        self.strided_from(0, shape, strides)
    }

    fn strided_from<const S: usize>(
        &self,
        offset: usize,
        shape: [usize; S],
        strides: [usize; S],
    ) -> Result<DeviceTensor<T, S>> {
        let available = if self.is_empty() { 0 } else { self.span() };
        let steps = shape.iter().zip(strides).try_fold(1usize, |end, (extent, stride)| {
            end.checked_add(extent.saturating_sub(1).checked_mul(stride)?)
        });
        let end = steps.and_then(|steps| steps.checked_add(offset));
        let empty = shape.contains(&0);
        if !empty && end.is_none_or(|end| end > available) {
            let from = if offset == 0 { String::new() } else { format!(" from element {offset}") };
            let actual = format!("a view of shape {shape:?} and strides {strides:?}{from}");
            return Err(self.misfit("as_strided", actual));
        }
        if super::bytes_within(&shape, self.element_bytes).is_none() {
            return Err(Error::TooLarge { shape: shape.to_vec(), dtype: self.dtype });
        }
        // No elements need no address; theirs may lie past the end.
        let view = self.with(if empty { 0 } else { offset }, shape, strides);
        debug_assert!(empty || offset + span_of(&shape, &strides) <= available);
        Ok(view)
    }

    fn misfit(&self, operation: &'static str, actual: String) -> Error {
        Error::View { operation, shape: self.shape.to_vec(), actual }
    }
}

/// The same operations on a view, borrowing what the view borrows rather than the view itself, so that
/// they can be chained.
impl<'a, T, const R: usize> TensorView<'a, T, R> {
    /// As [`DeviceTensor::slice`].
    ///
    /// # Errors
    /// As [`DeviceTensor::slice`].
    pub fn slice(&self, axis: usize, range: Range<usize>) -> Result<Self> {
        self.tensor.sliced(axis, range).map(shared)
    }

    /// As [`DeviceTensor::transpose`].
    #[must_use]
    pub fn transpose(&self) -> Self {
        shared(self.tensor.transposed())
    }

    /// As [`DeviceTensor::permute`].
    ///
    /// # Errors
    /// As [`DeviceTensor::permute`].
    pub fn permute(&self, axes: [usize; R]) -> Result<Self> {
        self.tensor.permuted(axes).map(shared)
    }

    /// As [`DeviceTensor::reshape`].
    ///
    /// # Errors
    /// As [`DeviceTensor::reshape`].
    pub fn reshape<const S: usize>(&self, shape: [usize; S]) -> Result<TensorView<'a, T, S>> {
        self.tensor.reshaped(shape).map(shared)
    }

    /// As [`DeviceTensor::as_strided`].
    ///
    /// # Errors
    /// As [`DeviceTensor::as_strided`].
    pub fn as_strided<const S: usize>(
        &self,
        shape: [usize; S],
        strides: [usize; S],
    ) -> Result<TensorView<'a, T, S>> {
        self.tensor.strided(shape, strides).map(shared)
    }
}

/// The same operations on an exclusive view, which they consume.
impl<'a, T, const R: usize> TensorViewMut<'a, T, R> {
    /// As [`DeviceTensor::slice_mut`].
    ///
    /// # Errors
    /// As [`DeviceTensor::slice`].
    pub fn into_slice(self, axis: usize, range: Range<usize>) -> Result<Self> {
        self.tensor.sliced(axis, range).map(exclusive)
    }

    /// As [`DeviceTensor::transpose_mut`].
    #[must_use]
    pub fn into_transpose(self) -> Self {
        exclusive(self.tensor.transposed())
    }

    /// As [`DeviceTensor::permute_mut`].
    ///
    /// # Errors
    /// As [`DeviceTensor::permute`].
    pub fn into_permute(self, axes: [usize; R]) -> Result<Self> {
        self.tensor.permuted(axes).map(exclusive)
    }

    /// As [`DeviceTensor::reshape_mut`].
    ///
    /// # Errors
    /// As [`DeviceTensor::reshape`].
    pub fn into_reshape<const S: usize>(
        self,
        shape: [usize; S],
    ) -> Result<TensorViewMut<'a, T, S>> {
        self.tensor.reshaped(shape).map(exclusive)
    }
}

/// Makes a view; the signature of the caller ties it to what it borrows.
pub(crate) fn shared<'a, T, const R: usize>(tensor: DeviceTensor<T, R>) -> TensorView<'a, T, R> {
    TensorView { tensor, borrow: PhantomData }
}

/// Makes an exclusive view; the signature of the caller ties it to what it borrows.
pub(crate) fn exclusive<'a, T, const R: usize>(
    tensor: DeviceTensor<T, R>,
) -> TensorViewMut<'a, T, R> {
    TensorViewMut { tensor, borrow: PhantomData }
}
