//! The driver's library, for functions that not all versions of cudarc's bindings have.
//!
//! cudarc's features, which other crates of a program may set, decide the CUDA version of its bindings and how they
//! reach the driver: they link to the library, or load it at the first call and panic if it is missing. So this module
//! checks that the library is there, and looks up functions that only some versions of the bindings have.

use libloading::Library;
use std::{ffi::CStr, sync::OnceLock};

/// The file that the driver installs.
pub(super) const LIBRARY: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

/// Its possible files, each of which cudarc looks for too. The second is a link to the first for building programs;
/// some packages and containers have only that.
const FILES: &[&str] = if cfg!(windows) { &[LIBRARY] } else { &[LIBRARY, "libcuda.so"] };

/// The library, once it was found; it is never unloaded.
pub(super) fn library() -> Option<&'static Library> {
    static FOUND: OnceLock<Option<Library>> = OnceLock::new();
    // SAFETY: loading the driver's library runs its initialisers, which have no preconditions.
    let open = |file: &&str| unsafe { Library::new(*file) }.ok();
    FOUND.get_or_init(|| FILES.iter().find_map(open)).as_ref()
}

/// A function of the library, if the library is there and has a function of that name.
///
/// # Safety
/// `F` is the type of a function with the signature that the driver documents for the name.
pub(super) unsafe fn function<F: Copy>(name: &CStr) -> Option<F> {
    // SAFETY: the caller guarantees the type.
    let symbol = unsafe { library()?.get::<F>(name) };
    symbol.ok().map(|symbol| *symbol)
}
