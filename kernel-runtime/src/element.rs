//! The element types of device tensors, and their bytes.

use crate::{
    DevicePtr, Dtype, IntoArgument,
    dtype::{for_each_dtype, host},
};
use std::fmt::Debug;

/// A type that a [`DeviceTensor`](crate::DeviceTensor) can hold.
///
/// The trait is sealed: `bool`, `i8` to `i64`, `u8` to `u64`, `f16`, `bf16`, `f32`, `f64` and the types of [`formats`](crate::formats) have it,
/// and so do pointers, [`DevicePtr`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of a device tensor",
    note = "elements are bool, i8 to i64, u8 to u64, f32, f64, and the formats of numbers in `kiln::prelude`: f16, bf16, e4m3 and so on"
)]
pub trait Element:
    sealed::Sealed
    + for<'a> IntoArgument<'a>
    + Copy
    + Default
    + PartialEq
    + Debug
    + Send
    + Sync
    + 'static
{
    /// The type's name in kernels, such as `f16`.
    const DTYPE: &'static str;
    /// The name of the type's addresses, such as `Ptr<f16>`.
    #[doc(hidden)]
    const POINTER: &'static str;
    /// Size of one element on the device, in bytes; the alignment is the same.
    const BYTES: usize;
    /// [`Dtype::of`] the type.
    #[doc(hidden)]
    const KIND: Dtype;
    /// Whether every bit pattern is a value of the type; false only for `bool`.
    #[doc(hidden)]
    const ANY_BITS: bool;

    /// The value's bits, zero-extended.
    #[doc(hidden)]
    fn to_bits(self) -> u128;
    /// The value that [`to_bits`](Self::to_bits) gave.
    #[doc(hidden)]
    fn from_bits(bits: u128) -> Self;
    /// Appends the little-endian bytes of `values`.
    #[doc(hidden)]
    fn encode(values: &[Self], bytes: &mut Vec<u8>);
    /// Reads whole values from little-endian bytes, and ignores a remainder.
    #[doc(hidden)]
    fn decode(bytes: &[u8], values: &mut Vec<Self>);
}

mod sealed {
    pub trait Sealed {}
}

/// Implements [`Element`] for every row.
macro_rules! elements {
    ($($kind:ident $type:ident $name:literal $bytes:literal $class:tt $dlpack:tt $doc:literal;)*) => {
        $(elements! { @$type $kind $name })*
    };
    (@bool $kind:ident $name:literal) => {};
    (@$type:ident $kind:ident $name:literal) => {
        impl sealed::Sealed for host::$type {}
        impl Element for host::$type {
            const DTYPE: &'static str = Dtype::$kind.name();
            const POINTER: &'static str = concat!("Ptr<", $name, ">");
            const BYTES: usize = size_of::<host::$type>();
            const KIND: Dtype = Dtype::$kind;
            const ANY_BITS: bool = true;

            fn to_bits(self) -> u128 {
                let mut bits = [0; 16];
                bits[..Self::BYTES].copy_from_slice(&self.to_le_bytes());
                u128::from_le_bytes(bits)
            }
            fn from_bits(bits: u128) -> Self {
                let bytes = bits.to_le_bytes();
                let (low, _) = bytes
                    .split_first_chunk::<{ size_of::<host::$type>() }>()
                    .expect("an element has at most 16 bytes");
                Self::from_le_bytes(*low)
            }
            fn encode(values: &[Self], bytes: &mut Vec<u8>) {
                bytes.reserve(values.len() * Self::BYTES);
                for value in values {
                    bytes.extend_from_slice(&value.to_le_bytes());
                }
            }
            fn decode(bytes: &[u8], values: &mut Vec<Self>) {
                let (chunks, _) = bytes.as_chunks::<{ size_of::<host::$type>() }>();
                values.extend(chunks.iter().map(|chunk| Self::from_le_bytes(*chunk)));
            }
        }
    };
}

for_each_dtype!(elements);

impl sealed::Sealed for bool {}
impl Element for bool {
    const DTYPE: &'static str = Dtype::Bool.name();
    const POINTER: &'static str = "Ptr<bool>";
    const BYTES: usize = 1;
    const KIND: Dtype = Dtype::Bool;
    const ANY_BITS: bool = false;

    fn to_bits(self) -> u128 {
        u128::from(self)
    }
    fn from_bits(bits: u128) -> Self {
        bits != 0
    }
    fn encode(values: &[Self], bytes: &mut Vec<u8>) {
        bytes.extend(values.iter().map(|value| u8::from(*value)));
    }
    fn decode(bytes: &[u8], values: &mut Vec<Self>) {
        // A kernel may leave any byte there; PTX tests predicates against zero.
        values.extend(bytes.iter().map(|byte| *byte != 0));
    }
}

/// A tensor of addresses, for kernels that take `Tensor<Ptr<T>, R>`: the device holds them as `u64`. What is read back belongs to no
/// device that anything checks.
impl<T: Element> sealed::Sealed for DevicePtr<T> {}
impl<T: Element> Element for DevicePtr<T> {
    const DTYPE: &'static str = T::POINTER;
    // No kernel takes addresses of addresses.
    const POINTER: &'static str = "Ptr<Ptr<_>>";
    const BYTES: usize = 8;
    const KIND: Dtype = Dtype::U64;
    const ANY_BITS: bool = true;

    fn to_bits(self) -> u128 {
        u128::from(self.address())
    }
    fn from_bits(bits: u128) -> Self {
        let bytes = bits.to_le_bytes();
        let (low, _) = bytes.split_first_chunk::<8>().expect("it has 16 bytes");
        DevicePtr::from_address(u64::from_le_bytes(*low))
    }
    fn encode(values: &[Self], bytes: &mut Vec<u8>) {
        bytes.extend(values.iter().flat_map(|value| value.address().to_le_bytes()));
    }
    fn decode(bytes: &[u8], values: &mut Vec<Self>) {
        let (chunks, _) = bytes.as_chunks::<8>();
        values.extend(chunks.iter().map(|chunk| Self::from_address(u64::from_le_bytes(*chunk))));
    }
}
