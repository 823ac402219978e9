//! The GPU back end: NVIDIA's driver, through cudarc's bindings.
//!
//! The bindings may panic when the library is missing, so every path into this module starts at [`driver`], which
//! checks that. Handles of the driver may be used from any thread, but the device's primary context has to be current
//! in the calling thread; each entry point makes it so.

mod function;
mod graph;
pub mod interop;
mod launch;
mod lease;
mod library;
mod memory;
pub(crate) mod nccl;
mod queue;
mod tensor_map;

use crate::{DriverError, DriverVersion, Error, Image, Properties, Resources, Result, Variant};
use cudarc::driver::{
    DriverError as Code,
    sys::{self, CUdevice_attribute as A},
};
use function::Function;
pub(crate) use graph::{Captured, Graph};
use library::LIBRARY;
pub(crate) use memory::Pinned;
pub(crate) use queue::{Mark, Queue};
use std::{
    collections::HashMap,
    ffi::{CStr, c_char, c_void},
    sync::{Arc, Mutex, OnceLock, PoisonError, RwLock},
};

/// The oldest driver with all functions that this back end calls; `cuMemAllocAsync` came with CUDA 11.2, and cudarc's
/// bindings start at 11.4.
const OLDEST: DriverVersion = DriverVersion { major: 11, minor: 4 };

/// A GPU. Its context is made when the first stream is.
pub(crate) struct Gpu {
    ordinal: usize,
    device: sys::CUdevice,
    name: String,
    driver: DriverVersion,
    properties: Properties,
    /// The highest clock of its multiprocessors.
    kilohertz: u32,
    memory_pools: bool,
    context: OnceLock<Context>,
    /// Held while a context or a module is made, so that nothing is made twice.
    making: Mutex<()>,
    functions: RwLock<HashMap<FunctionKey, Arc<Function>>>,
    /// The numbers of the GPUs whose memory kernels of this one can access.
    peers: RwLock<Vec<usize>>,
}

/// The address of a variant, which is a static, and the shape of block and cluster: the linker may give equal
/// variants of two images one address.
type FunctionKey = (usize, u32, [u32; 3]);

/// The primary context of a GPU; it is kept for the life of the process.
#[derive(Clone, Copy)]
struct Context(sys::CUcontext);

// SAFETY: a context handle is an opaque pointer that the driver lets any thread make current.
unsafe impl Send for Context {}
// SAFETY: as above; the driver synchronises concurrent calls itself.
unsafe impl Sync for Context {}

/// Turns the driver's answer into a result that remembers the call.
fn check(call: &'static str, answer: sys::CUresult) -> Result<(), DriverError> {
    if answer == sys::CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    Err(describe(call, answer))
}

/// The driver's answer in words.
fn describe(call: &'static str, answer: sys::CUresult) -> DriverError {
    let text = |text: Result<&CStr, Code>| {
        text.map_or_else(|_| "unknown".to_owned(), |text| text.to_string_lossy().into_owned())
    };
    DriverError {
        call,
        code: answer as u32,
        name: text(Code(answer).error_name()),
        message: text(Code(answer).error_string()),
    }
}

/// Loads and initialises the driver once; returns its version and whether it has GPUs.
fn driver() -> Result<(DriverVersion, bool)> {
    static DRIVER: OnceLock<Result<(DriverVersion, bool)>> = OnceLock::new();
    let start = || {
        if library::library().is_none() {
            return Err(Error::DriverMissing { library: LIBRARY });
        }
        let failed = |cause| Error::Driver { device: LIBRARY.to_owned(), cause: Box::new(cause) };
        let mut version = 0;
        // SAFETY: the pointer is to a live integer; the call works before `cuInit`.
        let answer = unsafe { sys::cuDriverGetVersion(&raw mut version) };
        check("cuDriverGetVersion", answer).map_err(failed)?;
        let version = version.unsigned_abs();
        let actual = DriverVersion { major: version / 1000, minor: version % 1000 / 10 };
        if actual < OLDEST {
            let needed_by = "Kiln".to_owned();
            return Err(Error::DriverTooOld { needed_by, required: OLDEST, actual });
        }
        // SAFETY: the library is there; 0 is the only flag value that the driver defines.
        let answer = unsafe { sys::cuInit(0) };
        if answer == sys::CUresult::CUDA_ERROR_NO_DEVICE {
            return Ok((actual, false));
        }
        check("cuInit", answer).map_err(failed)?;
        Ok((actual, true))
    };
    DRIVER.get_or_init(start).clone()
}

/// How many GPUs the driver reports.
pub(crate) fn device_count() -> Result<usize> {
    let (_, any) = driver()?;
    if !any {
        return Ok(0);
    }
    let mut count = 0;
    // SAFETY: the driver is initialised and the pointer is to a live integer.
    let answer = unsafe { sys::cuDeviceGetCount(&raw mut count) };
    check("cuDeviceGetCount", answer)
        .map_err(|cause| Error::Driver { device: LIBRARY.to_owned(), cause: Box::new(cause) })?;
    Ok(usize::try_from(count).unwrap_or(0))
}

impl Gpu {
    /// Looks a GPU up and reads its properties; no context is made yet.
    pub(crate) fn open(ordinal: usize) -> Result<Self> {
        let (driver, _) = driver()?;
        let count = device_count()?;
        let number = match i32::try_from(ordinal) {
            Ok(number) if ordinal < count => number,
            _ => return Err(Error::NoSuchDevice { ordinal, count }),
        };
        let failed =
            |cause| Error::Driver { device: format!("cuda:{ordinal}"), cause: Box::new(cause) };
        let mut device = 0;
        // SAFETY: the driver is initialised and the pointer is to a live handle.
        let answer = unsafe { sys::cuDeviceGet(&raw mut device, number) };
        check("cuDeviceGet", answer).map_err(failed)?;
        let attribute = |attribute| attribute_of(device, attribute).map_err(failed);
        let capability = (
            attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        );
        let properties = Properties {
            compute_capability: capability,
            multiprocessors: attribute(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            shared_bytes_per_block: attribute(
                A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            )?,
        };
        Ok(Self {
            ordinal,
            device,
            name: name_of(device).map_err(failed)?,
            driver,
            properties,
            // Only profiles ask for it.
            kilohertz: attribute(A::CU_DEVICE_ATTRIBUTE_CLOCK_RATE).unwrap_or(0),
            memory_pools: attribute(A::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)? != 0,
            context: OnceLock::new(),
            making: Mutex::new(()),
            functions: RwLock::new(HashMap::new()),
            peers: RwLock::default(),
        })
    }

    pub(crate) fn ordinal(&self) -> usize {
        self.ordinal
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn driver(&self) -> DriverVersion {
        self.driver
    }

    pub(crate) fn label(&self) -> String {
        format!("cuda:{} {}", self.ordinal, self.name)
    }

    pub(crate) fn properties(&self) -> Properties {
        self.properties
    }

    /// Cycles of its multiprocessors in a nanosecond, at most.
    pub(crate) fn cycles_per_nanosecond(&self) -> f64 {
        f64::from(self.kilohertz.max(1)) / 1e6
    }

    /// A failed call, on this device.
    fn failed(&self, cause: DriverError) -> Error {
        Error::Driver { device: self.label(), cause: Box::new(cause) }
    }

    /// The primary context, which other libraries of the process use too.
    fn context(&self) -> Result<Context> {
        if let Some(context) = self.context.get() {
            return Ok(*context);
        }
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(context) = self.context.get() {
            return Ok(*context);
        }
        let mut context = std::ptr::null_mut();
        // SAFETY: the device handle came from `cuDeviceGet`; the pointer is to a live handle.
        let answer = unsafe { sys::cuDevicePrimaryCtxRetain(&raw mut context, self.device) };
        check("cuDevicePrimaryCtxRetain", answer).map_err(|cause| self.failed(cause))?;
        Ok(*self.context.get_or_init(|| Context(context)))
    }

    /// Makes the primary context current on the calling thread.
    fn bind(&self) -> Result<Bound> {
        self.context()?.bind().map_err(|cause| self.failed(cause))
    }

    /// Whether another library's context is the one that Kiln uses.
    pub(crate) fn has_context(&self, context: *mut c_void) -> Result<bool> {
        Ok(self.context()?.0 == context.cast())
    }

    /// The resources of a kernel; loads it.
    pub(crate) fn resources(
        &self,
        image: &'static Image,
        variant: &'static Variant,
    ) -> Result<Resources> {
        let _bound = self.bind()?;
        Ok(self.function(image, variant)?.resources)
    }

    /// The loaded kernel of a variant; loads it the first time. The context is current.
    fn function(&self, image: &'static Image, variant: &'static Variant) -> Result<Arc<Function>> {
        let key = (std::ptr::from_ref(variant).addr(), image.threads, image.cluster);
        let find = || {
            let functions = self.functions.read().unwrap_or_else(PoisonError::into_inner);
            functions.get(&key).map(Arc::clone)
        };
        if let Some(function) = find() {
            return Ok(function);
        }
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = find() {
            return Ok(function);
        }
        let function = Arc::new(Function::load(self, image, variant)?);
        let mut functions = self.functions.write().unwrap_or_else(PoisonError::into_inner);
        functions.insert(key, Arc::clone(&function));
        Ok(function)
    }
}

/// While this lives, a GPU's primary context is current on its thread.
///
/// The previous context is current again afterwards, because CUDA's runtime takes the current context for the program's
/// chosen device. If there was none, Kiln's stays, so that a program without another library asks the driver only once
/// a call.
#[must_use = "the context may be current only until this is dropped"]
struct Bound {
    /// Null if there is no previous context.
    before: sys::CUcontext,
}

impl Drop for Bound {
    fn drop(&mut self) {
        if !self.before.is_null() {
            // SAFETY: the context was current on this thread, which its owner has to see to for as long as calls of this thread go on
            // that found it current.
            let _ = unsafe { sys::cuCtxSetCurrent(self.before) };
        }
    }
}

impl Context {
    /// Makes the context current on the calling thread, if it is not.
    fn bind(self) -> Result<Bound, DriverError> {
        let mut current = std::ptr::null_mut();
        // SAFETY: the driver is initialised, since a context exists; the pointer is to a live handle.
        let answer = unsafe { sys::cuCtxGetCurrent(&raw mut current) };
        check("cuCtxGetCurrent", answer)?;
        if current == self.0 {
            return Ok(Bound { before: std::ptr::null_mut() });
        }
        // SAFETY: the context was retained and is never released.
        check("cuCtxSetCurrent", unsafe { sys::cuCtxSetCurrent(self.0) })?;
        Ok(Bound { before: current })
    }
}

/// An attribute of a device; none of those read here is negative.
fn attribute_of(
    device: sys::CUdevice,
    attribute: sys::CUdevice_attribute,
) -> Result<u32, DriverError> {
    let mut value = 0;
    // SAFETY: the device handle came from `cuDeviceGet`; the pointer is to a live integer.
    let answer = unsafe { sys::cuDeviceGetAttribute(&raw mut value, attribute, device) };
    check("cuDeviceGetAttribute", answer)?;
    Ok(u32::try_from(value).unwrap_or(0))
}

fn name_of(device: sys::CUdevice) -> Result<String, DriverError> {
    const LENGTH: i32 = 256;
    let mut name = [0; LENGTH as usize];
    let start: *mut c_char = name.as_mut_ptr();
    // SAFETY: `start` points to `LENGTH` writable bytes; the driver ends the name with a NUL.
    let answer = unsafe { sys::cuDeviceGetName(start, LENGTH, device) };
    check("cuDeviceGetName", answer)?;
    let bytes: Vec<u8> = name.iter().map(|byte| byte.cast_unsigned()).collect();
    Ok(text_before_nul(&bytes))
}

/// The text in a buffer that the driver filled.
fn text_before_nul(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim_end().to_owned()
}
