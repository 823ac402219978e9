//! DLPack's capsules, in and out ("Python Specification for DLPack"; in the array API standard, `__dlpack__`).

use crate::{place::Place, raise};
use kiln::{
    AnyTensor, Stream,
    dlpack::{DLDevice, DLManagedTensor, DLManagedTensorVersioned},
};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    ffi, intern,
    prelude::*,
    types::{PyCapsule, PyDict},
};
use std::{
    ffi::{CStr, c_void},
    ptr::NonNull,
};

/// The names of a capsule that nobody has consumed, and after it was consumed.
const PLAIN: &CStr = c"dltensor";
const USED_PLAIN: &CStr = c"used_dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";
const USED_VERSIONED: &CStr = c"used_dltensor_versioned";

/// The newest version that is requested from a producer.
const MAX_VERSION: (u32, u32) = (1, 1);

/// What a capsule holds.
#[derive(Clone, Copy)]
enum Structure {
    Plain(NonNull<DLManagedTensor>),
    Versioned(NonNull<DLManagedTensorVersioned>),
}

// SAFETY: the structure is owned by who has consumed its capsule, and producers let any thread free it: Python's threads are any.
unsafe impl Send for Structure {}

impl Structure {
    /// The structure of a capsule that has not been consumed; `argument` is its name for the caller.
    fn of(capsule: &Bound<'_, PyCapsule>, argument: &str) -> PyResult<Self> {
        if capsule.is_valid_checked(Some(VERSIONED)) {
            return Ok(Self::Versioned(capsule.pointer_checked(Some(VERSIONED))?.cast()));
        }
        if capsule.is_valid_checked(Some(PLAIN)) {
            return Ok(Self::Plain(capsule.pointer_checked(Some(PLAIN))?.cast()));
        }
        let name = match capsule.name()? {
            // SAFETY: the capsule is alive, and nothing renames it before the text is copied.
            Some(name) => unsafe { name.as_cstr() }.to_string_lossy().into_owned(),
            None => "without a name".to_owned(),
        };
        let required = "a capsule called `dltensor` or `dltensor_versioned`";
        Err(if name.starts_with("used_") {
            PyValueError::new_err(format!(
                "{argument}: required {required}; actual `{name}`, which has been consumed: call `__dlpack__` again"
            ))
        } else {
            PyTypeError::new_err(format!("{argument}: required {required}; actual `{name}`"))
        })
    }

    fn device(self) -> DLDevice {
        match self {
            // SAFETY: the capsule's name says that the structure is one of these, and it has not been consumed.
            Self::Plain(managed) => unsafe { managed.as_ref() }.dl_tensor.device,
            Self::Versioned(managed) => {
                // SAFETY: as above.
                let managed = unsafe { managed.as_ref() };
                // What comes behind the version depends on it: another one is refused with the import.
                if managed.version.major == 1 {
                    managed.dl_tensor.device
                } else {
                    DLDevice { device_type: 1, device_id: 0 }
                }
            }
        }
    }
}

/// The kind and number of the device whose memory an array or a capsule has, as DLPack numbers them.
pub(crate) fn device_of(object: &Bound<'_, PyAny>, argument: &str) -> PyResult<(i32, i32)> {
    if let Ok(capsule) = object.cast::<PyCapsule>() {
        let DLDevice { device_type, device_id } = Structure::of(capsule, argument)?.device();
        return Ok((device_type, device_id));
    }
    method(object, "__dlpack_device__", argument)?.call0()?.extract()
}

/// The tensor of an array with `__dlpack__`, or of a capsule, which is consumed. The producer of an array is told to make it
/// ready for the place's stream.
pub(crate) fn import(
    object: &Bound<'_, PyAny>,
    argument: &str,
    place: &Place,
) -> PyResult<AnyTensor> {
    let py = object.py();
    place.require(device_of(object, argument)?, argument)?;
    let stream = &place.stream;
    let capsule = match object.cast::<PyCapsule>() {
        Ok(capsule) => capsule.clone(),
        Err(_) => export_of(object, argument, place.asked)?,
    };
    let structure = Structure::of(&capsule, argument)?;
    let used = match structure {
        Structure::Plain(_) => USED_PLAIN,
        Structure::Versioned(_) => USED_VERSIONED,
    };
    // SAFETY: the capsule is alive, and the name is static.
    if unsafe { ffi::PyCapsule_SetName(capsule.as_ptr(), used.as_ptr()) } != 0 {
        return Err(PyErr::fetch(py));
    }
    // Memory of the host is copied here, which takes its time.
    py.detach(move || match structure {
        // SAFETY: the capsule is consumed, so that nobody else frees the structure. Its producer has made the memory ready for the stream.
        Structure::Plain(managed) => unsafe { AnyTensor::from_dlpack(stream, managed) },
        // SAFETY: as above.
        Structure::Versioned(managed) => unsafe { AnyTensor::from_dlpack(stream, managed) },
    })
    .map_err(|error| raise(argument, error))
}

/// A new capsule of an array.
fn export_of<'py>(
    object: &Bound<'py, PyAny>,
    argument: &str,
    asked: Option<i64>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let py = object.py();
    let export = method(object, "__dlpack__", argument)?;
    let options = PyDict::new(py);
    if let Some(asked) = asked {
        options.set_item(intern!(py, "stream"), asked)?;
    }
    options.set_item(intern!(py, "max_version"), MAX_VERSION)?;
    let capsule = match export.call((), Some(&options)) {
        // Producers from before version 1 do not know the argument.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => {
            options.del_item(intern!(py, "max_version"))?;
            export.call((), Some(&options))?
        }
        result => result?,
    };
    Ok(capsule.cast_into::<PyCapsule>()?)
}

fn method<'py>(
    object: &Bound<'py, PyAny>,
    name: &str,
    argument: &str,
) -> PyResult<Bound<'py, PyAny>> {
    if !object.hasattr(name)? {
        let actual = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "{argument}: required an array with `__dlpack__` and `__dlpack_device__`, or a capsule of one; actual `{actual}`"
        )));
    }
    object.getattr(name)
}

/// A new capsule of a tensor, to be used on `stream`.
pub(crate) fn export<'py>(
    py: Python<'py>,
    tensor: &AnyTensor,
    stream: &Stream,
    versioned: bool,
) -> PyResult<Bound<'py, PyCapsule>> {
    let structure = py.detach(|| {
        if versioned {
            tensor.to_dlpack(stream).map(Structure::Versioned)
        } else {
            tensor.to_dlpack(stream).map(Structure::Plain)
        }
    });
    let (pointer, name, free) = match structure.map_err(|error| raise("__dlpack__", error))? {
        Structure::Plain(managed) => {
            (managed.cast::<c_void>(), PLAIN, free_plain as ffi::PyCapsule_Destructor)
        }
        Structure::Versioned(managed) => {
            (managed.cast(), VERSIONED, free_versioned as ffi::PyCapsule_Destructor)
        }
    };
    // SAFETY: the name says what the pointer is to, and the structure is there until the function or a consumer frees it.
    unsafe { PyCapsule::new_with_pointer_and_destructor(py, pointer, name, Some(free)) }
}

/// The structure of a capsule that is freed with this name: nobody has consumed it.
///
/// # Safety
/// `capsule` is a capsule, and the thread is attached to the interpreter.
unsafe fn unconsumed(capsule: *mut ffi::PyObject, name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: the caller guarantees it.
    if unsafe { ffi::PyCapsule_IsValid(capsule, name.as_ptr()) } == 0 {
        return None;
    }
    // SAFETY: as above.
    NonNull::new(unsafe { ffi::PyCapsule_GetPointer(capsule, name.as_ptr()) })
}

unsafe extern "C" fn free_plain(capsule: *mut ffi::PyObject) {
    // SAFETY: the interpreter calls this with the capsule that goes.
    let Some(managed) = (unsafe { unconsumed(capsule, PLAIN) }) else { return };
    let managed = managed.cast::<DLManagedTensor>();
    // SAFETY: the structure is there, since nobody has consumed it.
    if let Some(deleter) = unsafe { managed.as_ref() }.deleter {
        // SAFETY: as above; the call comes once.
        unsafe { deleter(managed.as_ptr()) };
    }
}

unsafe extern "C" fn free_versioned(capsule: *mut ffi::PyObject) {
    // SAFETY: the interpreter calls this with the capsule that goes.
    let Some(managed) = (unsafe { unconsumed(capsule, VERSIONED) }) else { return };
    let managed = managed.cast::<DLManagedTensorVersioned>();
    // SAFETY: the structure is there, since nobody has consumed it.
    if let Some(deleter) = unsafe { managed.as_ref() }.deleter {
        // SAFETY: as above; the call comes once.
        unsafe { deleter(managed.as_ptr()) };
    }
}
