//! The driver's library, for what cudarc's bindings do not have in all of their forms.
//!
//! Other crates of a program decide by cudarc's features how its bindings reach the driver, and of which CUDA version
//! they are: they are linked to the library, or load it at the first call and panic where there is none. So whether it
//! is there, and functions that only some versions of the bindings have, are looked up here.

use libloading::Library;
use std::{ffi::CStr, sync::OnceLock};

/// The file that the driver installs.
pub(super) const LIBRARY: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

/// The files that it may be in, each of which cudarc looks for too. The second is a link to the first for those who build
/// programs; some packages and containers have nothing else.
const FILES: &[&str] = if cfg!(windows) { &[LIBRARY] } else { &[LIBRARY, "libcuda.so"] };

/// The library, once it was found; it is never unloaded.
pub(super) fn library() -> Option<&'static Library> {
    static FOUND: OnceLock<Option<Library>> = OnceLock::new();
    // SAFETY: loading the driver's library runs its initialisers, which have no preconditions.
    let open = |file: &&str| unsafe { Library::new(*file) }.ok();
    FOUND.get_or_init(|| FILES.iter().find_map(open)).as_ref()
}

/// A function of the library, if it is there and has one of that name.
///
/// # Safety
/// `F` is the type of a function with the signature that the driver documents for the name.
pub(super) unsafe fn function<F: Copy>(name: &CStr) -> Option<F> {
    // SAFETY: the caller guarantees the type.
    let symbol = unsafe { library()?.get::<F>(name) };
    symbol.ok().map(|symbol| *symbol)
}
