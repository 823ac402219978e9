//! NCCL's library and its functions that Kiln uses.
//!
//! The interface is C, and stable since the required version (NCCL, "nccl.h").

use super::super::text_before_nul;
use crate::CommError;
use libloading::Library as File;
use std::{
    env,
    ffi::{CStr, c_char, c_int, c_void},
    ptr::null_mut,
    sync::OnceLock,
};

/// `ncclResult_t`.
pub(super) type Answer = u32;
pub(super) const SUCCESS: Answer = 0;
/// A call on a non-blocking communicator continues in the background.
pub(super) const IN_PROGRESS: Answer = 7;

/// `ncclComm_t`.
pub(super) type Handle = *mut c_void;

/// `ncclUniqueId`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct UniqueId(pub(super) [u8; 128]);

/// The first version of `ncclConfig_t`; later NCCL versions read as much as `size` says.
#[repr(C)]
struct Config {
    size: usize,
    magic: u32,
    version: u32,
    blocking: c_int,
}

/// The oldest NCCL with non-blocking calls: `ncclCommInitRankConfig`, `ncclCommFinalize`.
const OLDEST: c_int = 21_400;
/// The oldest NCCL that reduces FP8 numbers.
pub(super) const OLDEST_WITH_FLOAT8: c_int = 22_400;

/// Names the library's file.
const VARIABLE: &str = "KILN_NCCL";
/// The file that packages install, and the link for building programs.
const FILES: [&str; 2] = ["libnccl.so.2", "libnccl.so"];

type Reduce = unsafe extern "C" fn(u64, u64, usize, c_int, c_int, Handle, *mut c_void) -> Answer;
type Gather = unsafe extern "C" fn(u64, u64, usize, c_int, Handle, *mut c_void) -> Answer;
type ToPeer = unsafe extern "C" fn(u64, usize, c_int, c_int, Handle, *mut c_void) -> Answer;

/// The functions; the library is never unloaded.
pub(super) struct Library {
    pub(super) version: c_int,
    get_error_string: unsafe extern "C" fn(Answer) -> *const c_char,
    get_last_error: Option<unsafe extern "C" fn(Handle) -> *const c_char>,
    get_unique_id: unsafe extern "C" fn(*mut UniqueId) -> Answer,
    init: unsafe extern "C" fn(*mut Handle, c_int, UniqueId, c_int, *mut Config) -> Answer,
    finalize: unsafe extern "C" fn(Handle) -> Answer,
    destroy: unsafe extern "C" fn(Handle) -> Answer,
    abort: unsafe extern "C" fn(Handle) -> Answer,
    async_error: unsafe extern "C" fn(Handle, *mut Answer) -> Answer,
    group_start: unsafe extern "C" fn() -> Answer,
    group_end: unsafe extern "C" fn() -> Answer,
    /// `ncclAllReduce`: from, to, count, type, operation, communicator, stream.
    pub(super) all_reduce: Reduce,
    /// Like `all_reduce`; the count is that of the result.
    pub(super) reduce_scatter: Reduce,
    /// `ncclBroadcast`: from, to, count, type, root, communicator, stream.
    pub(super) broadcast: Reduce,
    /// `ncclAllGather`: from, to, count of one rank, type, communicator, stream.
    pub(super) all_gather: Gather,
    /// `ncclSend`: from, count, type, rank, communicator, stream.
    pub(super) send: ToPeer,
    /// `ncclRecv`: to, count, type, rank, communicator, stream.
    pub(super) recv: ToPeer,
}

/// The library, loaded the first time.
pub(super) fn library() -> Result<&'static Library, CommError> {
    static LOADED: OnceLock<Result<Library, CommError>> = OnceLock::new();
    let named = || env::var(VARIABLE).ok().filter(|file| !file.is_empty());
    LOADED.get_or_init(|| Library::load(named().as_deref())).as_ref().map_err(Clone::clone)
}

fn unusable(actual: String) -> CommError {
    CommError::Library { required: format!("NCCL {} or newer", dotted(OLDEST)), actual }
}

/// `2.21.5`; versions before 2.9 had two digits fewer.
fn dotted(version: c_int) -> String {
    let major = if version < 10_000 { 1_000 } else { 10_000 };
    format!("{}.{}.{}", version / major, version % major / 100, version % 100)
}

fn require_version(actual: c_int) -> Result<(), CommError> {
    if actual >= OLDEST {
        return Ok(());
    }
    Err(unusable(format!("version {} is installed", dotted(actual))))
}

impl Library {
    fn load(named: Option<&str>) -> Result<Self, CommError> {
        let candidates = named.map_or(&FILES[..], |_| &[]);
        let mut refused = Vec::new();
        for file in named.iter().chain(candidates) {
            // SAFETY: loading NCCL runs its initialisers, which have no preconditions; whoever names a file vouches for it.
            match unsafe { File::new(*file) } {
                // It stays loaded: the functions are used until the process ends.
                Ok(loaded) => return Self::of(Box::leak(Box::new(loaded)), file),
                Err(error) => refused.push(format!("{file}: {error}")),
            }
        }
        Err(unusable(refused.join("; ")))
    }

    fn of(loaded: &'static File, file: &str) -> Result<Self, CommError> {
        let absent =
            |name: &CStr| unusable(format!("{file} has no function {}", name.to_string_lossy()));
        // SAFETY: NCCL documents this signature for the name.
        let get_version = unsafe {
            find::<unsafe extern "C" fn(*mut c_int) -> Answer>(loaded, c"ncclGetVersion")
        };
        let get_version = get_version.ok_or_else(|| absent(c"ncclGetVersion"))?;
        let mut version = 0;
        // SAFETY: the pointer is to a live integer.
        let answer = unsafe { get_version(&raw mut version) };
        if answer != SUCCESS {
            return Err(unusable(format!("{file}: ncclGetVersion answers {answer}")));
        }
        require_version(version)?;
        /// A function by its name; the field gives the type.
        macro_rules! function {
            ($name:literal) => {{
                // SAFETY: NCCL documents the signature of the field for the name.
                let function = unsafe { find(loaded, $name) };
                function.ok_or_else(|| absent($name))?
            }};
        }
        Ok(Self {
            version,
            get_error_string: function!(c"ncclGetErrorString"),
            // SAFETY: as above.
            get_last_error: unsafe { find(loaded, c"ncclGetLastError") },
            get_unique_id: function!(c"ncclGetUniqueId"),
            init: function!(c"ncclCommInitRankConfig"),
            finalize: function!(c"ncclCommFinalize"),
            destroy: function!(c"ncclCommDestroy"),
            abort: function!(c"ncclCommAbort"),
            async_error: function!(c"ncclCommGetAsyncError"),
            group_start: function!(c"ncclGroupStart"),
            group_end: function!(c"ncclGroupEnd"),
            all_reduce: function!(c"ncclAllReduce"),
            reduce_scatter: function!(c"ncclReduceScatter"),
            broadcast: function!(c"ncclBroadcast"),
            all_gather: function!(c"ncclAllGather"),
            send: function!(c"ncclSend"),
            recv: function!(c"ncclRecv"),
        })
    }

    pub(super) fn name(&self) -> String {
        format!("NCCL {}", dotted(self.version))
    }

    /// Turns an answer into a result; a call that continues in the background has not failed.
    pub(super) fn check(
        &self,
        device: &str,
        call: &'static str,
        answer: Answer,
    ) -> Result<(), CommError> {
        if matches!(answer, SUCCESS | IN_PROGRESS) {
            return Ok(());
        }
        // SAFETY: the function takes any number, and returns a text that is never freed.
        let text = unsafe { (self.get_error_string)(answer) };
        let mut message = text_at(text);
        if let Some(last) = self.get_last_error {
            // SAFETY: the function does not look at its argument (NCCL, "ncclGetLastError").
            let text = text_at(unsafe { last(null_mut()) });
            if !text.is_empty() {
                message = format!("{message}; {text}");
            }
        }
        Err(CommError::Nccl { device: device.to_owned(), call, code: answer, message })
    }

    pub(super) fn unique_id(&self) -> Result<UniqueId, CommError> {
        let mut id = UniqueId([0; 128]);
        // SAFETY: the pointer is to a live id.
        let answer = unsafe { (self.get_unique_id)(&raw mut id) };
        self.check("this process", "ncclGetUniqueId", answer)?;
        Ok(id)
    }

    /// Begins to make a communicator that does not block, on the device that is current.
    ///
    /// # Safety
    /// `handle` lives until the communicator is ready or has failed, see [`Self::state`].
    pub(super) unsafe fn init(
        &self,
        handle: *mut Handle,
        ranks: c_int,
        id: UniqueId,
        rank: c_int,
    ) -> Answer {
        let version = OLDEST.unsigned_abs();
        let size = size_of::<Config>();
        // What `NCCL_CONFIG_INITIALIZER` has there.
        let mut config = Config { size, magic: 0xCAFE_BEEF, version, blocking: 0 };
        // SAFETY: the caller keeps the handle; NCCL copies the configuration before it returns.
        unsafe { (self.init)(handle, ranks, id, rank, &raw mut config) }
    }

    /// Whether a communicator is ready, busy or failed.
    ///
    /// # Safety
    /// The communicator is neither destroyed nor aborted.
    pub(super) unsafe fn state(&self, handle: Handle) -> Answer {
        let mut state = IN_PROGRESS;
        // SAFETY: the caller guarantees the handle; the pointer is to a live answer.
        let answer = unsafe { (self.async_error)(handle, &raw mut state) };
        if answer == SUCCESS { state } else { answer }
    }

    /// # Safety
    /// The communicator is neither destroyed nor aborted.
    pub(super) unsafe fn finalize(&self, handle: Handle) -> Answer {
        // SAFETY: the caller guarantees it.
        unsafe { (self.finalize)(handle) }
    }

    /// # Safety
    /// The communicator is neither destroyed nor aborted, and not used afterwards.
    pub(super) unsafe fn destroy(&self, handle: Handle) -> Answer {
        // SAFETY: the caller guarantees it.
        unsafe { (self.destroy)(handle) }
    }

    /// # Safety
    /// The communicator is neither destroyed nor aborted, and not used afterwards.
    pub(super) unsafe fn abort(&self, handle: Handle) -> Answer {
        // SAFETY: the caller guarantees it.
        unsafe { (self.abort)(handle) }
    }

    /// Opens a group of this thread.
    pub(super) fn group_start(&self) -> Answer {
        // SAFETY: the call has no preconditions.
        unsafe { (self.group_start)() }
    }

    /// Ends the group of this thread, and starts its calls.
    pub(super) fn group_end(&self) -> Answer {
        // SAFETY: the callers have opened a group.
        unsafe { (self.group_end)() }
    }
}

/// A function of the library, if there is one of that name.
///
/// # Safety
/// `F` is the type of a function with the signature that NCCL documents for the name.
unsafe fn find<F: Copy>(file: &File, name: &CStr) -> Option<F> {
    // SAFETY: the caller guarantees the type.
    let symbol = unsafe { file.get::<F>(name) };
    symbol.ok().map(|symbol| *symbol)
}

fn text_at(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: NCCL's texts end with a NUL and stay where they are.
    text_before_nul(unsafe { CStr::from_ptr(text) }.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_nccl_writes_them() {
        assert_eq!(dotted(22_105), "2.21.5");
        assert_eq!(dotted(2_804), "2.8.4");
        require_version(OLDEST).expect("the oldest that works");
        let error = require_version(21_304).expect_err("one that is older");
        assert!(error.to_string().contains("NCCL 2.14.0 or newer: version 2.13.4"), "{error}");
    }

    /// Where NCCL is installed, or `KILN_NCCL` names it, all of its functions are found, without a GPU.
    #[test]
    fn what_is_installed_is_usable_or_the_error_says_why() {
        match library() {
            Ok(library) => {
                assert!(library.version >= OLDEST);
                assert_eq!(library.name(), format!("NCCL {}", dotted(library.version)));
            }
            Err(CommError::Library { required, actual }) => {
                assert_eq!(required, "NCCL 2.14.0 or newer");
                assert!(!actual.is_empty());
            }
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn a_file_that_is_no_nccl_is_an_error() {
        let error = |file| match Library::load(Some(file)) {
            Ok(_) => panic!("{file} is no NCCL"),
            Err(error) => error.to_string(),
        };
        let text = error("/there/is/no/libnccl.so.2");
        assert!(text.contains("/there/is/no/libnccl.so.2") && text.contains("KILN_NCCL"), "{text}");
        #[cfg(target_os = "linux")]
        assert!(error("libc.so.6").contains("libc.so.6 has no function ncclGetVersion"));
    }
}
