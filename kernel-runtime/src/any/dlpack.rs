//! DLPack: tensors between libraries of one process, as C structures with a function that frees them
//! (`dlpack.h`, version 1; in Python, the capsules of `__dlpack__`).

use super::{AnyTensor, Rights};
use crate::{
    Device, Element, Error, Result, Stream,
    buffer::{Buffer, Lease},
    dtype::{for_each_dtype, host},
    tensor,
};
use std::{
    ffi::c_void,
    panic::AssertUnwindSafe,
    ptr::{NonNull, null_mut, without_provenance_mut},
    sync::Arc,
};

/// `DLDevice`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct DLDevice {
    /// 1 for memory of the host, 2 for a GPU's, 13 for managed memory.
    pub device_type: i32,
    /// The number of the GPU.
    pub device_id: i32,
}

/// `DLDataType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct DLDataType {
    /// The kind of number (`DLDataTypeCode`).
    pub code: u8,
    /// Bits of a number.
    pub bits: u8,
    /// Numbers of an element.
    pub lanes: u16,
}

/// `DLTensor`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DLTensor {
    /// The start of the memory.
    pub data: *mut c_void,
    /// Where it is.
    pub device: DLDevice,
    /// The number of axes.
    pub ndim: i32,
    /// The element type.
    pub dtype: DLDataType,
    /// The extents, `ndim` of them.
    pub shape: *mut i64,
    /// The strides in elements, `ndim` of them; null for a row-major tensor.
    pub strides: *mut i64,
    /// Where element 0 lies, in bytes from `data`.
    pub byte_offset: u64,
}

/// `DLManagedTensor`: what a capsule called `dltensor` holds.
#[derive(Debug)]
#[repr(C)]
pub struct DLManagedTensor {
    /// The tensor.
    pub dl_tensor: DLTensor,
    /// Data of the producer.
    pub manager_ctx: *mut c_void,
    /// Frees the structure and what it owns.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}

/// `DLPackVersion`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct DLPackVersion {
    /// Layouts of structures change between major versions.
    pub major: u32,
    /// Minor versions add values to enums.
    pub minor: u32,
}

/// `DLManagedTensorVersioned`: what a capsule called `dltensor_versioned` holds.
#[derive(Debug)]
#[repr(C)]
pub struct DLManagedTensorVersioned {
    /// The version of the structure.
    pub version: DLPackVersion,
    /// Data of the producer.
    pub manager_ctx: *mut c_void,
    /// Frees the structure and what it owns.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
    /// Bit 0: the consumer may not write. Bit 1: the memory is a copy. Bit 2: numbers of less than a byte are padded to one.
    pub flags: u64,
    /// The tensor.
    pub dl_tensor: DLTensor,
}

/// The version that is written here, and the only major one that is read.
const VERSION: DLPackVersion = DLPackVersion { major: 1, minor: 1 };
const READ_ONLY: u64 = 1;
const IS_COPIED: u64 = 1 << 1;
const IS_PADDED: u64 = 1 << 2;

/// `DLDeviceType`.
const CPU: i32 = 1;
const CUDA: i32 = 2;
const CUDA_MANAGED: i32 = 13;

/// The more axes somebody claims, the less likely it is that `ndim` was meant.
const MOST_AXES: usize = 64;

macro_rules! dtypes {
    ($($kind:ident $type:ident $name:literal $bytes:literal $class:tt ($code:literal $bits:literal $lanes:literal) $doc:literal;)*) => {
        /// The element type's name and bytes.
        fn dtype_of(dtype: DLDataType) -> Option<(&'static str, usize)> {
            match (dtype.code, dtype.bits, dtype.lanes) {
                $(($code, $bits, $lanes) => Some((<host::$type>::DTYPE, <host::$type>::BYTES)),)*
                _ => None,
            }
        }

        fn dlpack_dtype(name: &str) -> Option<DLDataType> {
            $(if name == <host::$type>::DTYPE {
                return Some(DLDataType { code: $code, bits: $bits, lanes: $lanes });
            })*
            None
        }
    };
}

for_each_dtype!(dtypes);

/// One of the two structures. [`AnyTensor::from_dlpack`] takes either.
pub trait Managed: sealed::Sealed {
    /// Whether it can mark memory as read-only.
    #[doc(hidden)]
    const HAS_FLAGS: bool;
    #[doc(hidden)]
    fn tensor(&self) -> DLTensor;
    #[doc(hidden)]
    fn flags(&self) -> u64;
    #[doc(hidden)]
    fn version(&self) -> DLPackVersion;
    /// Frees a structure.
    ///
    /// # Safety
    /// It is valid, and nobody uses it any more.
    #[doc(hidden)]
    unsafe fn delete(this: NonNull<Self>);
    #[doc(hidden)]
    fn new(tensor: DLTensor, context: *mut c_void, flags: u64) -> Self;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::DLManagedTensor {}
    impl Sealed for super::DLManagedTensorVersioned {}
}

impl Managed for DLManagedTensor {
    const HAS_FLAGS: bool = false;
    fn tensor(&self) -> DLTensor {
        self.dl_tensor
    }
    fn flags(&self) -> u64 {
        0
    }
    fn version(&self) -> DLPackVersion {
        VERSION
    }
    unsafe fn delete(this: NonNull<Self>) {
        // SAFETY: the caller guarantees that the structure is there.
        if let Some(deleter) = unsafe { this.as_ref() }.deleter {
            // SAFETY: the producer has left this function for this call, and it comes once.
            unsafe { deleter(this.as_ptr()) };
        }
    }
    fn new(dl_tensor: DLTensor, manager_ctx: *mut c_void, _flags: u64) -> Self {
        Self { dl_tensor, manager_ctx, deleter: Some(delete_own::<Self>) }
    }
}

impl Managed for DLManagedTensorVersioned {
    const HAS_FLAGS: bool = true;
    fn tensor(&self) -> DLTensor {
        self.dl_tensor
    }
    fn flags(&self) -> u64 {
        self.flags
    }
    fn version(&self) -> DLPackVersion {
        self.version
    }
    unsafe fn delete(this: NonNull<Self>) {
        // SAFETY: the caller guarantees that the structure is there; these fields are the same in all versions.
        if let Some(deleter) = unsafe { this.as_ref() }.deleter {
            // SAFETY: the producer has left this function for this call, and it comes once.
            unsafe { deleter(this.as_ptr()) };
        }
    }
    fn new(dl_tensor: DLTensor, manager_ctx: *mut c_void, flags: u64) -> Self {
        let deleter = Some(delete_own::<Self> as unsafe extern "C" fn(*mut Self));
        Self { version: VERSION, manager_ctx, deleter, flags, dl_tensor }
    }
}

/// A structure of another library, whose deleter is called when it is dropped.
struct Theirs<M: Managed>(NonNull<M>);

// SAFETY: the structure is looked at while it is imported, and afterwards only freed, which may be done from any thread: whoever
// hands it over guarantees it (`AnyTensor::from_dlpack`).
unsafe impl<M: Managed> Send for Theirs<M> {}
// SAFETY: as above.
unsafe impl<M: Managed> Sync for Theirs<M> {}

impl<M: Managed> Drop for Theirs<M> {
    fn drop(&mut self) {
        // SAFETY: it was handed over, and nobody else has it.
        unsafe { M::delete(self.0) };
    }
}

/// What a structure made here owns.
struct Own {
    /// Keeps memory of the device.
    buffer: Option<Arc<Buffer>>,
    /// A copy in the host's memory, at an address that is a multiple of 16.
    host: Vec<u128>,
    shape: Vec<i64>,
    strides: Vec<i64>,
}

/// Frees a structure that [`Managed::new`] made.
unsafe extern "C" fn delete_own<M: HasContext>(this: *mut M) {
    // SAFETY: `into_dlpack` made the structure by `Box::into_raw`, and this is the one call that frees it.
    let managed = unsafe { Box::from_raw(this) };
    // SAFETY: as above, of what the structure owns.
    drop(unsafe { Box::from_raw(managed.context().cast::<Own>()) });
}

/// Where a structure keeps its producer's own.
trait HasContext {
    fn context(&self) -> *mut c_void;
}

impl HasContext for DLManagedTensor {
    fn context(&self) -> *mut c_void {
        self.manager_ctx
    }
}

impl HasContext for DLManagedTensorVersioned {
    fn context(&self) -> *mut c_void {
        self.manager_ctx
    }
}

impl AnyTensor {
    /// A tensor over memory that another library passes through DLPack, in either structure. The structure is freed
    /// when Kiln's last use is done, and at once after an error.
    ///
    /// Memory of a GPU is used in place, under the conditions of
    /// [`DeviceTensor::from_raw`](crate::DeviceTensor::from_raw): `stream` is the stream on which the producer uses it
    /// and in whose order it frees it. Another stream, on which the producer was told to make the memory ready (in
    /// Python, the argument `stream` of `__dlpack__`), is possible if the producer's own tensor is kept until Kiln's
    /// work is done. On the emulator, memory of the host is copied, and freed at once.
    ///
    /// # Errors
    /// [`Error::ForeignMemory`] for memory of another device, negative strides and other tensors that Kiln does not
    /// have; [`Error::TooLarge`].
    ///
    /// # Safety
    /// `managed` is what `dlpack.h` says, nobody else frees it, and it may be freed from any thread. Its memory is as
    /// [`DeviceTensor::from_raw`](crate::DeviceTensor::from_raw) requires.
    pub unsafe fn from_dlpack<M: Managed + 'static>(
        stream: &Stream,
        managed: NonNull<M>,
    ) -> Result<Self> {
        let theirs = Theirs(managed);
        // SAFETY: the caller guarantees that the structure is there.
        let managed = unsafe { theirs.0.as_ref() };
        let device = stream.device();
        stream.outside_of_captures("a tensor over foreign memory")?;
        let version = managed.version();
        if version.major != VERSION.major {
            return Err(refused(device, format!("version {}.{}", version.major, version.minor)));
        }
        let (tensor, flags) = (managed.tensor(), managed.flags());
        // SAFETY: as above.
        let described = unsafe { Described::of(device, &tensor, flags) }?;
        let Described { shape, strides, dtype, span_bytes } = described;
        let address = (tensor.data.addr() as u64)
            .checked_add(tensor.byte_offset)
            .ok_or_else(|| refused(device, "an offset behind the last address".to_owned()))?;
        let rights = if flags & READ_ONLY == 0 { Rights::ReadAndWrite } else { Rights::Read };
        match (device.ordinal(), tensor.device.device_type) {
            (Some(ordinal), CUDA | CUDA_MANAGED)
                if usize::try_from(tensor.device.device_id) == Ok(ordinal) =>
            {
                device.require_memory(address, span_bytes, dtype)?;
                let address = if span_bytes == 0 { 0 } else { address };
                let lease = Lease::Owned(AssertUnwindSafe(Box::new(theirs)));
                let buffer = Buffer::foreign(stream, address, span_bytes, lease);
                Ok(Self::over(buffer, shape, strides, dtype, rights))
            }
            (None, CPU) => {
                if !address.is_multiple_of(1 << dtype.1.trailing_zeros()) {
                    return Err(refused(
                        device,
                        format!("an address that is no multiple of {}", dtype.1),
                    ));
                }
                let start = tensor.data.cast::<u8>().cast_const().wrapping_add(offset_of(&tensor));
                // SAFETY: the caller guarantees that the elements are there, and that nobody writes them meanwhile.
                let bytes = unsafe { gathered(start, &shape, &strides, dtype.1) };
                let buffer = Buffer::with_bytes(stream, &bytes)?;
                let strides = tensor::row_major_of(&shape);
                // The copy could be written to, but a GPU would refuse it.
                Ok(Self::over(buffer, shape, strides, dtype, rights))
            }
            (_, kind) => {
                let number = tensor.device.device_id;
                Err(refused(device, format!("memory of device {number} of type {kind}")))
            }
        }
    }

    /// The tensor for another library, through DLPack, in either structure:
    /// `to_dlpack::<DLManagedTensorVersioned>(..)`. The receiver calls its `deleter` once.
    ///
    /// A GPU's memory is shared in place: the consumer uses it on `stream`, which waits for Kiln's work on it (see
    /// [`Self::share_with`]). The emulator's memory is copied into memory of the host.
    ///
    /// # Errors
    /// [`Error::StreamOfAnotherDevice`], [`Error::Driver`]; [`Error::EmulatorMemory`] for elements that were never
    /// written; [`Error::ReadOnly`] for a GPU's memory that was lent for reading, in [`DLManagedTensor`], which cannot
    /// mark it as read-only.
    pub fn to_dlpack<M: Managed>(&self, stream: &Stream) -> Result<NonNull<M>> {
        stream.outside_of_captures("to_dlpack")?;
        if self.device() != stream.device() {
            return Err(Error::StreamOfAnotherDevice {
                operation: "to_dlpack",
                required: stream.device().label(),
                actual: self.device().label_beside(stream.device()),
            });
        }
        let numbers = |values: &[usize]| -> Vec<i64> {
            values.iter().map(|value| i64::try_from(*value).unwrap_or(i64::MAX)).collect()
        };
        let mut own = Own {
            buffer: None,
            host: Vec::new(),
            shape: numbers(&self.shape),
            strides: numbers(&self.strides),
        };
        let mut flags = match self.rights {
            Rights::Read => READ_ONLY,
            Rights::ReadAndWrite => 0,
        };
        let (data, device) = if let Some(ordinal) = self.device().ordinal() {
            if !M::HAS_FLAGS {
                self.require_writable("to_dlpack")?;
            }
            self.share_with(stream)?;
            own.buffer = Some(Arc::clone(self.buffer()));
            let address = usize::try_from(self.address()).expect("a GPU's address is 64 bits wide");
            let device_id = i32::try_from(ordinal).unwrap_or(i32::MAX);
            (without_provenance_mut(address), DLDevice { device_type: CUDA, device_id })
        } else {
            let bytes = self.to_bytes(stream)?;
            own.host = bytes.chunks(16).map(word).collect();
            own.strides = numbers(&tensor::row_major_of(&self.shape));
            flags = IS_COPIED;
            let start = if bytes.is_empty() { null_mut() } else { own.host.as_mut_ptr() };
            (start.cast(), DLDevice { device_type: CPU, device_id: 0 })
        };
        let dtype = dlpack_dtype(self.dtype).expect("every element type is in the list");
        let mut own = Box::new(own);
        let dl_tensor = DLTensor {
            data,
            device,
            ndim: i32::try_from(self.rank()).expect("ranks are small"),
            dtype,
            shape: own.shape.as_mut_ptr(),
            strides: own.strides.as_mut_ptr(),
            byte_offset: 0,
        };
        let managed = M::new(dl_tensor, Box::into_raw(own).cast(), flags);
        Ok(NonNull::from(Box::leak(Box::new(managed))))
    }
}

/// Sixteen bytes or fewer as they lie in memory.
fn word(bytes: &[u8]) -> u128 {
    let mut word = [0; 16];
    word[..bytes.len()].copy_from_slice(bytes);
    u128::from_ne_bytes(word)
}

/// What is known of a tensor of another library.
struct Described {
    shape: Vec<usize>,
    strides: Vec<usize>,
    dtype: (&'static str, usize),
    span_bytes: usize,
}

impl Described {
    /// # Safety
    /// `shape` and `strides` point to as many numbers as the tensor has axes, or `strides` is null.
    unsafe fn of(device: &Device, tensor: &DLTensor, flags: u64) -> Result<Self> {
        let Some(axes) = usize::try_from(tensor.ndim).ok().filter(|axes| *axes <= MOST_AXES) else {
            return Err(refused(device, format!("{} axes", tensor.ndim)));
        };
        let list = |start: *mut i64, name: &str| -> Result<Vec<usize>> {
            if axes == 0 {
                return Ok(Vec::new());
            }
            if start.is_null() {
                return Err(refused(device, format!("no {name} for {axes} axes")));
            }
            // SAFETY: the caller guarantees that they are there.
            let values = unsafe { std::slice::from_raw_parts(start, axes) };
            let unsigned = values.iter().map(|value| usize::try_from(*value).ok());
            let unsigned: Option<Vec<usize>> = unsigned.collect();
            unsigned.ok_or_else(|| refused(device, format!("the {name} {values:?}")))
        };
        let shape = list(tensor.shape, "extents")?;
        let strides = if tensor.strides.is_null() {
            tensor::row_major_of(&shape)
        } else {
            list(tensor.strides, "strides")?
        };
        let DLDataType { code, bits, lanes } = tensor.dtype;
        let padded = flags & IS_PADDED != 0 && bits < 8;
        let dtype = dtype_of(tensor.dtype).filter(|_| !padded).ok_or_else(|| {
            refused(device, format!("{lanes} numbers of {bits} bits and type code {code}"))
        })?;
        let span_bytes = tensor::span_bytes(dtype, &shape, &strides)?;
        if span_bytes != 0 && tensor.data.is_null() {
            return Err(refused(device, "no memory".to_owned()));
        }
        Ok(Self { shape, strides, dtype, span_bytes })
    }
}

fn refused(device: &Device, actual: String) -> Error {
    let required = "a tensor by DLPack that Kiln has a type for, in its memory".to_owned();
    Error::ForeignMemory { device: device.label(), required, actual }
}

fn offset_of(tensor: &DLTensor) -> usize {
    usize::try_from(tensor.byte_offset).unwrap_or(usize::MAX)
}

/// The bytes of all elements of the host's, in row-major order.
///
/// # Safety
/// The elements are there, and nobody writes them meanwhile.
unsafe fn gathered(
    start: *const u8,
    shape: &[usize],
    strides: &[usize],
    element_bytes: usize,
) -> Vec<u8> {
    if shape.contains(&0) {
        return Vec::new();
    }
    if strides == tensor::row_major_of(shape) {
        let bytes = shape.iter().product::<usize>() * element_bytes;
        // SAFETY: the caller guarantees that the elements are there, and without gaps they are these bytes.
        return unsafe { std::slice::from_raw_parts(start, bytes) }.to_vec();
    }
    let mut bytes = Vec::new();
    for offset in tensor::offsets(shape, strides) {
        // SAFETY: the caller guarantees that the element is there.
        let element = unsafe { start.add(offset * element_bytes) };
        // SAFETY: as above, of its bytes.
        let element = unsafe { std::slice::from_raw_parts(element, element_bytes) };
        bytes.extend_from_slice(element);
    }
    bytes
}
