//! Arguments of a launch, with their types erased.

mod tensor;

use crate::{
    DeviceTensor, Element, Error, ParamKind, Result,
    buffer::Buffer,
    dtype::{for_each_dtype, host},
};
use std::{fmt, marker::PhantomData, ops::Deref, sync::Arc};
#[doc(hidden)]
pub use tensor::{
    __ABSENT, __are_absent, __array_of, __each, __given, __name_of, __option_of, __pointer_of,
    __scalar_of, __tensor_of,
};
pub use tensor::{TensorArgument, TensorArgumentMut, TensorRef, TensorRefMut};

/// One argument of a launch.
#[derive(Debug)]
pub struct Argument<'a>(pub(crate) Value<'a>);

/// What an argument is.
#[derive(Debug)]
pub(crate) enum Value<'a> {
    Tensor(TensorValue<'a>),
    Pointer {
        address: u64,
        dtype: &'static str,
        device: Option<u64>,
    },
    Scalar {
        bits: u128,
        integer: Option<i128>,
        dtype: &'static str,
    },
    /// `None`, for a parameter that is an `Option`.
    Absent,
}

/// A tensor without its element type.
#[derive(Debug)]
pub(crate) struct TensorValue<'a> {
    pub(crate) buffer: Held<'a>,
    pub(crate) address: u64,
    pub(crate) shape: Dims,
    pub(crate) strides: Dims,
    pub(crate) dtype: &'static str,
    pub(crate) element_bytes: usize,
    pub(crate) mutable: bool,
}

/// The memory of an argument: that of a tensor that outlives the launch, or that of a view that was passed by value.
#[derive(Debug)]
pub(crate) enum Held<'a> {
    Borrowed(&'a Arc<Buffer>),
    Owned(Arc<Buffer>),
}

impl Deref for Held<'_> {
    type Target = Arc<Buffer>;
    fn deref(&self) -> &Self::Target {
        match self {
            Held::Borrowed(buffer) => buffer,
            Held::Owned(buffer) => buffer,
        }
    }
}

/// The most axes of a kernel's tensor.
const MAX_RANK: usize = 5;

/// One number an axis, in place: an argument allocates nothing.
///
/// For a rank that no kernel takes, only the first axes are kept: a launch refuses it because of its rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dims {
    rank: usize,
    values: [usize; MAX_RANK],
}

impl Dims {
    pub(crate) fn new(dims: &[usize]) -> Self {
        let mut values = [0; MAX_RANK];
        for (value, dim) in values.iter_mut().zip(dims) {
            *value = *dim;
        }
        Self { rank: dims.len(), values }
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    /// All of them, if they fit.
    pub(crate) fn exact<const R: usize>(&self) -> Option<[usize; R]> {
        (**self).try_into().ok().filter(|_| self.rank == R)
    }
}

impl Deref for Dims {
    type Target = [usize];
    fn deref(&self) -> &Self::Target {
        &self.values[..self.rank.min(MAX_RANK)]
    }
}

impl TensorValue<'_> {
    /// Whether there are no elements.
    pub(crate) fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// The first address after the last element; that of element 0 if there are no elements.
    pub(crate) fn end(&self) -> u64 {
        if self.is_empty() {
            return self.address;
        }
        let steps =
            self.shape.iter().zip(&*self.strides).map(|(extent, stride)| (extent - 1) * stride);
        self.address + ((steps.sum::<usize>() + 1) * self.element_bytes) as u64
    }
}

impl Argument<'_> {
    /// The parameter that this argument would fit exactly.
    pub(crate) fn kind(&self) -> ParamKind {
        match &self.0 {
            Value::Tensor(TensorValue { dtype, shape, mutable, .. }) => {
                ParamKind::Tensor { dtype, rank: shape.rank(), mutable: *mutable }
            }
            Value::Pointer { dtype, .. } => ParamKind::Pointer { dtype },
            Value::Scalar { dtype, .. } => ParamKind::Scalar { dtype },
            Value::Absent => ParamKind::Absent,
        }
    }

    /// How many entry parameters the argument becomes.
    pub(crate) fn slots(&self) -> usize {
        match &self.0 {
            Value::Tensor(tensor) => 1 + 2 * tensor.shape.len(),
            Value::Pointer { .. } | Value::Scalar { .. } => 1,
            Value::Absent => 0,
        }
    }

    /// Writes the entry parameters, each zero-extended to 64 bits; returns how many there are.
    ///
    /// A dim is an `i32` and a stride an `i64`; the launch has checked that they fit.
    pub(crate) fn write(&self, slots: &mut [u64]) -> usize {
        match &self.0 {
            Value::Tensor(TensorValue { address, shape, strides, .. }) => {
                slots[0] = *address;
                for (slot, value) in slots[1..].iter_mut().zip(shape.iter().chain(&**strides)) {
                    *slot = *value as u64;
                }
                1 + 2 * shape.len()
            }
            Value::Pointer { address, .. } => {
                slots[0] = *address;
                1
            }
            Value::Scalar { bits, .. } => {
                slots[0] =
                    u64::try_from(*bits).expect("kernels have no scalar of more than 64 bits");
                1
            }
            Value::Absent => 0,
        }
    }
}

/// An argument whose types are checked at the launch: tensors, device pointers, scalars.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a kernel's argument",
    note = "arguments are tensors and views (by reference; views also by value), `DevicePtr`, scalars of the element types, and an `Option` of one of these"
)]
pub trait IntoArgument<'a> {
    /// The argument without its type.
    fn into_argument(self) -> Argument<'a>;
}

/// For a parameter that is an `Option`.
impl<'a, A: IntoArgument<'a>> IntoArgument<'a> for Option<A> {
    fn into_argument(self) -> Argument<'a> {
        self.map_or(Argument(Value::Absent), A::into_argument)
    }
}

/// A tensor of any element type and rank within uploaded bytes, for callers that know the types only at run time: the
/// tests of the compiler.
///
/// Element 0 is `offset_bytes` after the first byte; strides are in elements of `element_bytes`, the element size of
/// `kind`.
///
/// # Errors
/// [`Error::View`] when an element lies outside the bytes, and when `kind` is not a tensor of the shape's rank.
#[doc(hidden)]
pub fn __tensor_within<'a>(
    bytes: &'a DeviceTensor<u8, 1>,
    offset_bytes: usize,
    kind: ParamKind,
    element_bytes: usize,
    shape: &[usize],
    strides: &[usize],
) -> Result<Argument<'a>> {
    let outside = |actual: String| Error::View {
        operation: "__tensor_within",
        shape: bytes.shape().to_vec(),
        actual,
    };
    let ParamKind::Tensor { dtype, rank, mutable } = kind else {
        return Err(outside(format!("an argument of type {kind}")));
    };
    // From element 0 to behind the last one; no elements need no bytes.
    let steps = shape.iter().zip(strides).try_fold(0usize, |steps, (extent, stride)| {
        steps.checked_add(extent.saturating_sub(1).checked_mul(*stride)?)
    });
    let span = steps.and_then(|steps| steps.checked_add(1)?.checked_mul(element_bytes));
    let end = span.and_then(|span| span.checked_add(offset_bytes));
    let fits =
        bytes.is_contiguous() && (shape.contains(&0) || end.is_some_and(|end| end <= bytes.len()));
    if !fits || (shape.len(), strides.len()) != (rank, rank) {
        let place = format!("{offset_bytes} bytes behind the first");
        return Err(outside(format!("{kind} of shape {shape:?} and strides {strides:?}, {place}")));
    }
    let buffer = Held::Borrowed(bytes.buffer());
    let address = bytes.address() + offset_bytes as u64;
    let (shape, strides) = (Dims::new(shape), Dims::new(strides));
    let value = TensorValue { buffer, address, shape, strides, dtype, element_bytes, mutable };
    Ok(Argument(Value::Tensor(value)))
}

/// An address on a device, for kernels that take `Ptr` arguments and whose launch is therefore `unsafe`.
///
/// It does not keep the memory alive, and does not order streams.
pub struct DevicePtr<T> {
    address: u64,
    dtype: &'static str,
    /// The device's id, unless the address came from another library.
    device: Option<u64>,
    element: PhantomData<fn() -> T>,
}

impl<T> DevicePtr<T> {
    pub(crate) fn new(address: u64, dtype: &'static str, device: u64) -> Self {
        Self { address, dtype, device: Some(device), element: PhantomData }
    }

    /// The address in bytes.
    pub fn address(self) -> u64 {
        self.address
    }
}

impl<T: Element> DevicePtr<T> {
    /// The pointer that was given as an argument.
    pub(crate) fn of_argument(argument: &Argument<'_>) -> Option<Self> {
        match argument.0 {
            Value::Pointer { address, dtype, device } if dtype == T::DTYPE => {
                Some(Self { address, dtype, device, element: PhantomData })
            }
            Value::Pointer { .. } | Value::Tensor(_) | Value::Scalar { .. } | Value::Absent => None,
        }
    }

    /// An address that another library allocated; no check knows which device it belongs to.
    pub fn from_address(address: u64) -> Self {
        Self { address, dtype: T::DTYPE, device: None, element: PhantomData }
    }

    /// The address `elements` further on; it wraps around like the device's addition.
    #[must_use]
    pub fn offset(self, elements: isize) -> Self {
        let bytes = (elements as i64).wrapping_mul(T::BYTES.cast_signed() as i64);
        Self { address: self.address.wrapping_add_signed(bytes), ..self }
    }
}

impl<T> Clone for DevicePtr<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DevicePtr<T> {}

/// The null address, which points to nothing.
impl<T: Element> Default for DevicePtr<T> {
    fn default() -> Self {
        Self::from_address(0)
    }
}

/// Equal are pointers to one address.
impl<T> PartialEq for DevicePtr<T> {
    fn eq(&self, other: &Self) -> bool {
        self.address == other.address
    }
}

impl<T> Eq for DevicePtr<T> {}

impl<T> fmt::Debug for DevicePtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ptr<{}> {:#x}", self.dtype, self.address)
    }
}

impl<'a, T> IntoArgument<'a> for DevicePtr<T> {
    fn into_argument(self) -> Argument<'a> {
        let Self { address, dtype, device, .. } = self;
        Argument(Value::Pointer { address, dtype, device })
    }
}

/// Scalars: integers can be asked for divisibility, the others cannot.
macro_rules! scalars {
    ($($kind:ident $type:ident $name:literal $bytes:literal $class:tt $dlpack:tt $doc:literal;)*) => {$(
        impl<'a> IntoArgument<'a> for host::$type {
            fn into_argument(self) -> Argument<'a> {
                let (bits, integer) = (Element::to_bits(self), scalars!(@$class self));
                Argument(Value::Scalar { bits, integer, dtype: <host::$type as Element>::DTYPE })
            }
        }
    )*};
    (@integer $value:ident) => {
        Some(i128::from($value))
    };
    (@else $value:ident) => {
        None
    };
}

for_each_dtype!(scalars);
