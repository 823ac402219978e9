//! Tensors whose element type and rank are known only at run time.

pub mod dlpack;

use crate::{
    Device, DeviceTensor, Element, Error, ParamKind, Result, Stream, TensorView, TensorViewMut,
    buffer::{Access, Buffer},
    tensor,
};
use std::{fmt, sync::Arc};

/// A tensor of any element type and any rank, for code that handles tensors of a framework: a [`DeviceTensor`] without its type.
///
/// Make it from a tensor (`AnyTensor::from(tensor)`) or with [`AnyTensor::from_dlpack`], and get a tensor back with
/// [`downcast`](Self::downcast), [`as_tensor`](Self::as_tensor) and [`as_tensor_mut`](Self::as_tensor_mut). It can also
/// be an argument of a kernel, in `Args` and in `with_arguments` of an instance: the launch checks its type.
pub struct AnyTensor {
    buffer: Arc<Buffer>,
    /// The offset of element 0 from the start of the buffer, in bytes.
    offset_bytes: usize,
    shape: Vec<usize>,
    strides: Vec<usize>,
    dtype: &'static str,
    element_bytes: usize,
    rights: Rights,
}

/// What may be done to a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rights {
    Read,
    ReadAndWrite,
}

impl AnyTensor {
    /// A tensor from the start of a buffer that is large enough.
    pub(crate) fn over(
        buffer: Buffer,
        shape: Vec<usize>,
        strides: Vec<usize>,
        dtype: (&'static str, usize),
        rights: Rights,
    ) -> Self {
        let (dtype, element_bytes) = dtype;
        let buffer = Arc::new(buffer);
        Self { buffer, offset_bytes: 0, shape, strides, dtype, element_bytes, rights }
    }

    /// The extents of the axes.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The strides: distances between neighbours along the axes, in elements.
    pub fn strides(&self) -> &[usize] {
        &self.strides
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The element type's name in kernels, such as `f16`.
    pub fn dtype(&self) -> &'static str {
        self.dtype
    }

    /// Whether kernels may write the elements: the lender of the memory may have forbidden it.
    pub fn is_writable(&self) -> bool {
        self.rights == Rights::ReadAndWrite
    }

    /// The device whose memory this is.
    pub fn device(&self) -> &Device {
        self.buffer.home().device()
    }

    /// The address of element 0 on the device, in bytes; 0 for a new tensor without elements.
    pub fn address(&self) -> u64 {
        self.buffer.address() + self.offset_bytes as u64
    }

    pub(crate) fn element_bytes(&self) -> usize {
        self.element_bytes
    }

    pub(crate) fn buffer(&self) -> &Arc<Buffer> {
        &self.buffer
    }

    /// The tensor with its type.
    ///
    /// # Errors
    /// [`Error::NotOfType`] for another element type or rank; [`Error::ReadOnly`].
    pub fn downcast<T: Element, const R: usize>(self) -> Result<DeviceTensor<T, R>> {
        self.require_writable("downcast")?;
        self.typed()
    }

    /// A view with the tensor's type.
    ///
    /// # Errors
    /// [`Error::NotOfType`] for another element type or rank.
    pub fn as_tensor<T: Element, const R: usize>(&self) -> Result<TensorView<'_, T, R>> {
        self.typed().map(tensor::shared)
    }

    /// Like [`Self::as_tensor`], exclusive.
    ///
    /// # Errors
    /// [`Error::NotOfType`] for another element type or rank; [`Error::ReadOnly`].
    pub fn as_tensor_mut<T: Element, const R: usize>(&mut self) -> Result<TensorViewMut<'_, T, R>> {
        self.require_writable("as_tensor_mut")?;
        self.typed().map(tensor::exclusive)
    }

    fn typed<T: Element, const R: usize>(&self) -> Result<DeviceTensor<T, R>> {
        let array = |values: &[usize]| <[usize; R]>::try_from(values).ok();
        match (array(&self.shape), array(&self.strides)) {
            (Some(shape), Some(strides)) if self.dtype == T::DTYPE => {
                let buffer = Arc::clone(&self.buffer);
                Ok(DeviceTensor::within(buffer, self.offset_bytes, shape, strides))
            }
            _ => Err(Error::NotOfType {
                required: ParamKind::Tensor { dtype: T::DTYPE, rank: R, mutable: false },
                actual: self.kind(false),
            }),
        }
    }

    /// The bytes of all elements, in row-major order. Waits for the stream.
    pub(crate) fn to_bytes(&self, stream: &Stream) -> Result<Vec<u8>> {
        if self.shape.contains(&0) {
            return Ok(Vec::new());
        }
        stream.begin_use(&self.buffer, Access::Read)?;
        let span =
            tensor::span_bytes((self.dtype, self.element_bytes), &self.shape, &self.strides)?;
        if self.strides == tensor::row_major_of(&self.shape) {
            let bytes = stream.queue().download(self.address(), span)?;
            stream.end_use(&self.buffer)?;
            return Ok(bytes);
        }
        let elements = tensor::offsets(&self.shape, &self.strides);
        let bytes = elements.flat_map(|element| {
            (0..self.element_bytes).map(move |byte| element * self.element_bytes + byte)
        });
        let bytes = stream.queue().gather(self.address(), span, bytes)?;
        stream.end_use(&self.buffer)?;
        Ok(bytes)
    }

    fn require_writable(&self, operation: &'static str) -> Result<()> {
        if self.is_writable() { Ok(()) } else { Err(Error::ReadOnly { operation }) }
    }

    fn kind(&self, mutable: bool) -> ParamKind {
        ParamKind::Tensor { dtype: self.dtype, rank: self.rank(), mutable }
    }

    /// Shares the memory with another library; see [`DeviceTensor::share_with`].
    ///
    /// # Errors
    /// As [`DeviceTensor::share_with`].
    pub fn share_with(&self, stream: &Stream) -> Result<()> {
        stream.take_part_in(&self.buffer)
    }
}

impl<T, const R: usize> From<DeviceTensor<T, R>> for AnyTensor {
    fn from(tensor: DeviceTensor<T, R>) -> Self {
        let (shape, strides) = (tensor.shape().to_vec(), tensor.strides().to_vec());
        let (dtype, element_bytes) = (tensor.dtype(), tensor.element_bytes());
        let (buffer, offset_bytes) = tensor.into_parts();
        let rights = Rights::ReadAndWrite;
        Self { buffer, offset_bytes, shape, strides, dtype, element_bytes, rights }
    }
}

impl fmt::Debug for AnyTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shape, strides, dtype, .. } = self;
        write!(f, "AnyTensor of {dtype} {shape:?}, strides {strides:?}, ")?;
        f.write_str(&self.device().label())
    }
}
