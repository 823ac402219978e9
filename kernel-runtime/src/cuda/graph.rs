//! Graphs of the driver.

use super::{Gpu, Queue, check, library};
use crate::{DriverError, Error, Result};
use cudarc::driver::sys;
use std::{
    fmt,
    ptr::null_mut,
    sync::{Arc, Mutex, PoisonError},
};

/// A graph from a capture.
pub(crate) struct Captured {
    gpu: Arc<Gpu>,
    graph: sys::CUgraph,
}

/// A graph that can be launched.
pub(crate) struct Graph {
    gpu: Arc<Gpu>,
    /// The driver lets one thread at a time use an executable graph.
    executable: Mutex<Executable>,
}

/// The driver's handle.
struct Executable(sys::CUgraphExec);

// SAFETY: the handles are opaque pointers that the driver lets any thread use, one at a time.
unsafe impl Send for Captured {}
// SAFETY: as above; a shared reference does nothing with the handle.
unsafe impl Sync for Captured {}
// SAFETY: as above; the lock lets one thread at a time use it.
unsafe impl Send for Executable {}

impl Queue {
    /// Records what is put on the stream from now on.
    pub(crate) fn begin_capture(&self) -> Result<()> {
        // Kernels are loaded while others are recorded, which the stricter modes forbid.
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        self.call("cuStreamBeginCapture", || {
            // SAFETY: the stream lives as long as `self`.
            unsafe { sys::cuStreamBeginCapture_v2(self.stream, mode) }
        })
    }

    /// What was recorded.
    pub(crate) fn end_capture(&self) -> Result<Captured> {
        let mut graph = null_mut();
        self.call("cuStreamEndCapture", || {
            // SAFETY: the stream lives as long as `self`; the pointer is to a live handle.
            unsafe { sys::cuStreamEndCapture(self.stream, &raw mut graph) }
        })?;
        Ok(Captured { gpu: Arc::clone(&self.gpu), graph })
    }

    pub(crate) fn launch_graph(&self, graph: &Graph) -> Result<()> {
        self.require_usable()?;
        let executable = graph.lock();
        self.call("cuGraphLaunch", || {
            // SAFETY: stream and graph live, and are of one context; the memory that the graph's work uses is held by
            // `crate::Graph`.
            unsafe { sys::cuGraphLaunch(executable.0, self.stream) }
        })
    }
}

impl Captured {
    pub(crate) fn instantiate(&self) -> Result<Graph> {
        let executable = Mutex::new(self.executable()?);
        Ok(Graph { gpu: Arc::clone(&self.gpu), executable })
    }

    fn executable(&self) -> Result<Executable> {
        let _bound = self.gpu.bind()?;
        let mut executable = null_mut();
        // SAFETY: the graph lives as long as `self`; the pointer is to a live handle.
        let answer =
            unsafe { sys::cuGraphInstantiateWithFlags(&raw mut executable, self.graph, 0) };
        check("cuGraphInstantiateWithFlags", answer).map_err(|cause| self.gpu.failed(cause))?;
        Ok(Executable(executable))
    }
}

impl Graph {
    fn lock(&self) -> std::sync::MutexGuard<'_, Executable> {
        self.executable.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the arguments of `captured`, or all of it if its work differs.
    pub(crate) fn replace(&mut self, captured: &Captured) -> Result<()> {
        let _bound = self.gpu.bind()?;
        let executable = self.executable.get_mut().unwrap_or_else(PoisonError::into_inner);
        if update(&self.gpu, executable, captured)? == Updated::Anew {
            // The former one is destroyed when its launches are done.
            *executable = captured.executable()?;
        }
        Ok(())
    }
}

/// The driver's answer to an update.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Updated {
    InPlace,
    /// The graphs differ in more than arguments.
    Anew,
}

/// `cuGraphExecUpdate` of CUDA 12 and later (CUDA Driver API, "Graph Management"); the bindings for older versions have
/// the earlier one.
type ExecUpdate = unsafe extern "C" fn(
    executable: sys::CUgraphExec,
    graph: sys::CUgraph,
    info: *mut UpdateInfo,
) -> sys::CUresult;

/// `CUgraphExecUpdateResultInfo`.
#[repr(C)]
struct UpdateInfo {
    result: u32,
    error_node: sys::CUgraphNode,
    error_from_node: sys::CUgraphNode,
}

fn update(gpu: &Gpu, executable: &Executable, captured: &Captured) -> Result<Updated> {
    // SAFETY: the driver documents this signature for the symbol.
    let Some(update) = (unsafe { library::function::<ExecUpdate>(c"cuGraphExecUpdate_v2") }) else {
        return Ok(Updated::Anew);
    };
    let mut info = UpdateInfo { result: 0, error_node: null_mut(), error_from_node: null_mut() };
    // SAFETY: both graphs live, and the lock on the executable one is held; the pointer is to a live record.
    let answer = unsafe { update(executable.0, captured.graph, &raw mut info) };
    if answer == sys::CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE {
        return Ok(Updated::Anew);
    }
    check("cuGraphExecUpdate", answer)
        .map_err(|cause: DriverError| -> Error { gpu.failed(cause) })?;
    Ok(Updated::InPlace)
}

impl Drop for Captured {
    fn drop(&mut self) {
        let Ok(_bound) = self.gpu.bind() else { return };
        // SAFETY: nothing else has the handle; executable graphs do not need it.
        let _ = unsafe { sys::cuGraphDestroy(self.graph) };
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        // SAFETY: nothing else has the handle; launches under way keep what they need. The call needs no current context.
        let _ = unsafe { sys::cuGraphExecDestroy(self.0) };
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "graph of {}", self.gpu.label())
    }
}

impl fmt::Debug for Captured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "captured graph of {}", self.gpu.label())
    }
}
